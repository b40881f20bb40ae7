import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { ApiList } from '../control-plane/api.ts';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { installManifest } from '../control-plane/install.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { describeAgent, published, serverSideApply, untilRolledOut } from '../support/installed-agents.ts';
import { CALICO_TARGET } from '../support/target.ts';

describe('control planes, each started anew', function () {
  this.timeout(180_000);

  before(async function () {
    this.timeout(0); // the very first run builds the programs
    await resolvePrograms();
  });

  it('runs twice at once, each with its own objects, and leaves nothing behind', async () => {
    const both = await Promise.all([startControlPlane({ maxMinutes: 5 }), startControlPlane({ maxMinutes: 5 })]);
    try {
      const [one, two] = both;
      await Promise.all([one.addNodes(2, { prefix: 'one' }), two.addNodes(1, { prefix: 'two', fault: 'slow' })]);
      const names = async ({ api }: ControlPlane) => (await api.get<ApiList>('/api/v1/nodes')).items.map(({ metadata }) => metadata.name);
      assert.deepEqual([await names(one), await names(two)], [['one-01', 'one-02'], ['two-01']]);
    } finally {
      await Promise.all(both.map((each) => each.stop()));
    }
    for (const { dir, server } of both) {
      assert.equal(existsSync(dir), false);
      await assert.rejects(fetch(server), TypeError);
    }
  });

  it('installs and upgrades a published release on five nodes', async () => {
    const controlPlane = await startControlPlane({ maxMinutes: 5 });
    const service = simulateService(controlPlane.api, CALICO);
    try {
      await controlPlane.addNodes(5);
      await installManifest(controlPlane, published('v3.27.5', 'calico'));
      await serverSideApply(controlPlane, published(CALICO_TARGET, 'calico'));
      await untilRolledOut(controlPlane, 'calico-node');
      const { items } = await controlPlane.api.get<ApiList>('/api/v1/pods?labelSelector=k8s-app%3Dcalico-node');
      assert.deepEqual(new Set(items.flatMap((pod) => describeAgent(pod).images)), new Set([`quay.io/calico/node:${CALICO_TARGET}`]));
    } finally {
      await service.stop();
      await controlPlane.stop();
    }
  });
});
