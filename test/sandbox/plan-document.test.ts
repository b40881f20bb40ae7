import assert from 'node:assert/strict';
import type { ObjectRef } from '../../src/kernel/object.ts';
import { calico } from '../../src/profiles/calico.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { findKind } from '../../src/sandbox/store.ts';
import { kvstoreScenario } from '../support/kvstore-sandbox.ts';
import { plannedObjects, surprises } from '../support/plan-document.ts';
import { releases } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';

const installed = (file: string, release: string) => () =>
  installedSandbox({ profile: calico, releasesFolder: releases, installed: release, file, cli: false });

/** One release of each variant of a manifest install. */
const CASES: Readonly<Record<string, () => Promise<Scenario>>> = {
  'calico.yaml v3.27.5': installed('calico.yaml', 'v3.27.5'),
  'calico-typha.yaml v3.27.5': installed('calico-typha.yaml', 'v3.27.5'),
  'calico-policy-only.yaml v3.27.5': installed('calico-policy-only.yaml', 'v3.27.5'),
  'canal.yaml v3.27.5': installed('canal.yaml', 'v3.27.5'),
  'calico-etcd.yaml v3.20.6, edited': () => kvstoreScenario('v3.20.6'),
};

describe('the document of `plan`, on the embedded cluster', function () {
  this.timeout(120_000);
  for (const [title, open] of Object.entries(CASES))
    it(`says of each object and field what \`apply\` then does: ${title}`, async () => {
      const scenario = await open();
      const planned = sandboxCommand(scenario, calico);
      assert.equal(await planned.run('plan', '-o', 'json'), 0, planned.err());
      const objects = plannedObjects(planned.out());
      assert.ok(objects.length >= 15, `${objects.length} objects`);
      const read = async ({ apiVersion, kind, name, namespace }: ObjectRef) => {
        const known = findKind(scenario.cluster.kinds(), apiVersion, kind);
        return known && scenario.cluster.store.get(known, name, namespace);
      };
      const different = await surprises(objects, read, async () => {
        const applied = sandboxCommand(scenario, calico);
        assert.equal(await applied.run('apply', '--yes'), 0, applied.out() + applied.err());
      });
      assert.deepEqual(different, []);
    });
});
