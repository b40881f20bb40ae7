import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ApiObject } from '../control-plane/api.ts';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { installManifest } from '../control-plane/install.ts';
import { NETSVC, simulateService } from '../control-plane/service-simulator.ts';
import type { NodeFault } from '../control-plane/stages.ts';
import { until } from '../control-plane/until.ts';
import { type Agent, agentOn, own, replaceAgent, serverSideApply, untilAgent, untilRolledOut } from '../support/installed-agents.ts';
import { shared } from '../support/installed-cluster.ts';
import { NETSVC_TARGET } from '../support/target.ts';

describe('the real control plane', function () {
  this.timeout(180_000);

  before(async function () {
    this.timeout(0); // the very first run builds the programs
    await resolvePrograms();
  });

  describe('with netsvc installed', () => {
    const controlPlane = shared(() => startControlPlane({ maxMinutes: 10, audit: true }));
    const node = 'node-02';

    before(async () => {
      await controlPlane.addNodes(3);
      await installManifest(controlPlane, own('v3.26.4', 'netsvc'));
    });

    it('runs every agent 2/2, with the images of the manifest', async () => {
      const agent = await untilAgent(controlPlane, node, 'is 2/2', ({ readyColumn }) => readyColumn === '2/2');
      assert.deepEqual(agent.images, ['registry.netsvc.io/netsvc/node:v3.26.4', 'registry.netsvc.io/netsvc/routes:v3.26.4']);
    });

    const faults: readonly [NodeFault, string, (agent: Agent) => boolean][] = [
      ['image-pull', 'waits for its first image', ({ waiting, phase }) => waiting.includes('ImagePullBackOff') && phase === 'Pending'],
      [
        'crash-loop',
        'crashes again and again',
        ({ waiting, lastExit, restarts }) => waiting.includes('CrashLoopBackOff') && lastExit === 1 && restarts > 1,
      ],
      ['not-ready', 'runs and is not ready', ({ readyColumn, phase }) => readyColumn === '1/2' && phase === 'Running'],
    ];
    for (const [fault, wanted, is] of faults) {
      it(`under the fault ${fault} leaves the old agent alone, and a new one ${wanted} until the node is freed`, async () => {
        await controlPlane.fault(node, fault);
        assert.equal((await agentOn(controlPlane, node))?.readyColumn, '2/2');
        const old = await replaceAgent(controlPlane, node);
        const stuck = await untilAgent(controlPlane, node, wanted, (agent) => agent.uid !== old && is(agent));
        await controlPlane.fault(node, 'none');
        const freed = await untilAgent(controlPlane, node, 'is ready', ({ readyColumn }) => readyColumn === '2/2');
        assert.equal(freed.uid, stuck.uid);
      });
    }

    it('keeps the pods of a node that is down, their deletion pending, until it comes back', async () => {
      await controlPlane.fault(node, 'down');
      const selection = ['-n', 'kube-system', '-l', 'k8s-app=netsvc-node', `--field-selector=spec.nodeName=${node}`];
      await controlPlane.kubectl(['delete', 'pod', '--wait=false', '--grace-period=30', ...selection]);
      const { stdout } = await controlPlane.kubectl(['get', 'pod', '-o', 'jsonpath={.items[*].metadata.deletionTimestamp}', ...selection]);
      assert.notEqual(stdout, '');
      await controlPlane.fault(node, 'none');
      await untilAgent(controlPlane, node, 'is ready', ({ readyColumn }) => readyColumn === '2/2');
    });

    it('starts a pod later when its annotation says so', async () => {
      const annotations = { 'netsvc-upgrade.test/ready-after': '2s' };
      const spec = { nodeName: node, containers: [{ name: 'any', image: 'any:1' }] };
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'late', annotations }, spec };
      await until('pods may be created', async () => Boolean(await controlPlane.api.send('POST', '/api/v1/namespaces/default/pods', pod)));
      const late = async () => {
        const { metadata, status } = await controlPlane.api.get<ApiObject>('/api/v1/namespaces/default/pods/late');
        const { phase, startTime = '' } = status as { phase: string; startTime?: string };
        return { phase, took: Date.parse(startTime) - Date.parse(String(metadata.creationTimestamp)) };
      };
      await until('it runs', async () => (await late()).phase === 'Running');
      assert.ok((await late()).took >= 1000); // both times are cut to whole seconds
    });

    it('replaces the controller manager, and workloads go on to be served', async () => {
      await controlPlane.restartControllerManager();
      const old = await replaceAgent(controlPlane, node);
      await untilAgent(controlPlane, node, 'is new and ready', ({ uid, readyColumn }) => uid !== old && readyColumn === '2/2');
    });

    it('changes the cluster’s version with the first new agent of an upgrade', async () => {
      const service = simulateService(controlPlane.api, NETSVC);
      try {
        const version = async () => {
          const { spec } = await controlPlane.api.get<ApiObject>('/apis/crd.netsvc.io/v1/clusterinformations/default');
          return (spec as { netsvcVersion: string }).netsvcVersion;
        };
        await until('the old release is known', async () => (await version()) === 'v3.26.4');
        await controlPlane.fault('node-01', 'image-pull');
        await controlPlane.fault('node-03', 'image-pull');
        await controlPlane.fault(node, 'image-pull');
        await serverSideApply(controlPlane, own(NETSVC_TARGET, 'netsvc'));
        await until('some agent is stuck', async () =>
          (await Promise.all(['node-01', node, 'node-03'].map((name) => agentOn(controlPlane, name)))).some((agent) =>
            agent?.waiting.includes('ImagePullBackOff'),
          ),
        );
        assert.equal(await version(), 'v3.26.4');
        for (const name of ['node-01', node, 'node-03']) await controlPlane.fault(name, 'none');
        await untilRolledOut(controlPlane, 'netsvc-node');
        await until('the new release is known', async () => (await version()) === NETSVC_TARGET);
      } finally {
        await service.stop();
      }
    });

    it('has an audit log of the writes of people, and of nobody else', () => {
      const lines = readFileSync(controlPlane.auditLog, 'utf8').trim().split('\n');
      const events = lines.map((line) => JSON.parse(line) as { user: { username: string }; verb: string });
      assert.deepEqual([...new Set(events.map(({ user }) => user.username))], ['test-admin']);
      assert.ok(events.some(({ verb }) => verb === 'patch'));
      assert.ok(!events.some(({ verb }) => verb === 'get' || verb === 'watch'));
    });
  });
});
