import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { playPolicyMigration } from '../control-plane/policy-migration.ts';
import { CALICO, simulateService } from '../control-plane/service-simulator.ts';
import { until } from '../control-plane/until.ts';
import { clusterAround, folderFor, opened, PATHS, within } from '../support/installed-cluster.ts';
import { installOperated } from '../support/real-operated.ts';
import { runOperators } from '../support/real-operator.ts';
import { realProgram } from '../support/real-service.ts';
import { releases } from '../support/releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt } from '../support/upgrade-process.ts';

const OLD = { release: 'v3.31.7', operator: 'v1.40.15' };
const NODES = 10;
const SPACE = 'calico-system';
/** The operator looks at everything every five minutes at the latest, and every 30 s while something is not available. */
const HELD_MS = 60_000;
const RUN = ['--yes', '--skip', 'cli', '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';
const TYPHAS = '{.status.readyReplicas}/{.status.replicas}';
const POLICIES = '/apis/crd.projectcalico.org/v1/globalnetworkpolicies';
const STORED = ['default.api', 'default.db', 'default.web'];
const HELD = ['calico-kube-controllers', 'calico-typha'];

const [old, target] = [realProgram('operator', OLD.operator), realProgram('operator', CALICO_OPERATOR)];

const installed = (programs: Readonly<Record<string, string>>) =>
  opened(async (endBy) => {
    const home = await folderFor(endBy);
    const plane = await startControlPlane({ readyAfterMs: 3_000, maxMinutes: 30 });
    endBy(plane.stop);
    const operators = runOperators(plane, programs);
    endBy(operators.stop);
    const releasing = simulateService(plane.api, CALICO);
    endBy(releasing.stop);
    await plane.addNodes(NODES);
    await installOperated(plane, OLD.release, OLD.operator);
    const around = clusterAround(plane, [PATHS.deployments, PATHS.agents, PATHS.installations], { home });
    await until('it runs', async () => (await around.read('installation default', '{.status.calicoVersion}')) === OLD.release, 300_000);
    // The operator scales Typha after it has said that all is available.
    await until('Typha runs', async () => (await around.read(`deploy calico-typha -n ${SPACE}`, TYPHAS)) === '3/3', 120_000);
    for (const name of STORED)
      await plane.api.send('POST', POLICIES, {
        apiVersion: 'crd.projectcalico.org/v1',
        kind: 'GlobalNetworkPolicy',
        metadata: { name, annotations: { 'projectcalico.org/metadata': '{}' } },
        spec: { tier: 'default', selector: 'all()', types: ['Ingress'] },
      });
    const migration = playPolicyMigration(plane.api, {
      group: 'projectcalico.org',
      namespace: SPACE,
      agents: 'calico-node',
      controllers: HELD[0] ?? '',
    });
    endBy(migration.stop);
    const image = (what: string) => around.read(`${what} -n ${SPACE}`, IMAGE);
    return {
      ...around,
      agents: async () => (await image('ds calico-node')).split(':').at(-1),
      held: async () => Promise.all(HELD.map(async (name) => (await image(`deploy ${name}`)).split(':').at(-1))),
      policies: async () =>
        (await around.read('globalnetworkpolicies.crd.projectcalico.org', '{.items[*].metadata.name}')).split(' ').toSorted(),
      pace: () => around.read('installation default', '{.spec.nodeUpdateStrategy.rollingUpdate.maxUnavailable}'),
      marks: async () => {
        const { stdout } = await plane.kubectl(['get', 'deploy,rs,ds', '-n', SPACE, '-o', 'yaml']);
        const installation = await around.read('installation default', '{.metadata.annotations}');
        return /unsupported\.operator\.tigera\.io\/ignore|netsvc-upgrade\//.test(stdout + installation);
      },
    };
  });

describe(`the real operators ${OLD.operator} and ${CALICO_OPERATOR}: a run that ends with the agents`, function () {
  this.timeout(1_500_000);
  if ('missing' in old || 'missing' in target) {
    it(`keeps Typha and the controllers: ${'missing' in old ? old.missing : 'missing' in target ? target.missing : ''}`);
    return;
  }
  const programs = { [OLD.operator]: old.program, [CALICO_OPERATOR]: target.program };

  it('keeps Typha, the controllers and the names of policies, at its own pace, until commit', () =>
    within(installed(programs), async (cluster) => {
      assertSucceeded(await cluster.upgrade('run', ...RUN, '--until', 'agents', '--max-unavailable', '3'));
      assert.deepEqual([await cluster.agents(), await cluster.held()], [CALICO_TARGET, [OLD.release, OLD.release]]);
      assert.equal(await cluster.pace(), '1');
      await pause(HELD_MS);
      assert.deepEqual([await cluster.held(), await cluster.policies()], [[OLD.release, OLD.release], STORED]);
      assertSucceeded(await cluster.upgrade('commit', ...RUN));
      assert.deepEqual(await cluster.held(), [CALICO_TARGET, CALICO_TARGET]);
      assert.equal(await cluster.marks(), false);
      await until('policies are renamed', async () => !(await cluster.policies()).some((name) => name.startsWith('default.')), 60_000);
    }));

  it('keeps both where it is killed once the operator has begun, and a rollback from there ends at the old release', () =>
    within(installed(programs), async (cluster) => {
      await killedAt(
        ['run', ...RUN, '--until', 'agents', '--max-unavailable', '3'],
        cluster.around,
        /wait until the operator has upgraded every other component/,
      );
      await until('all agents are new', async () => (await cluster.agents()) === CALICO_TARGET, 120_000);
      await pause(HELD_MS);
      assert.deepEqual([await cluster.held(), await cluster.policies(), await cluster.pace()], [[OLD.release, OLD.release], STORED, '3']);
      const { stdout } = await cluster.upgrade('status');
      assert.match(stdout, /maxUnavailable 3 in Installation\/default, for this run alone/);
      assertSucceeded(await cluster.upgrade('rollback', '--yes', '--accept', 'NS-301', '--manifest-url', releases));
      assert.deepEqual(
        [await cluster.agents(), await cluster.held(), await cluster.policies()],
        [OLD.release, [OLD.release, OLD.release], STORED],
      );
      assert.deepEqual([await cluster.pace(), await cluster.marks()], ['1', false]);
    }));
});
