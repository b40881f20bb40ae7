import assert from 'node:assert/strict';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { chain, usualChain } from '../../src/features/chain.ts';
import { permissionsOf } from '../../src/features/permissions.ts';
import { documentKinds } from '../../src/features/rights/needs.ts';
import type { Permission } from '../../src/features/rights/permission.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { commandBench } from '../support/command-bench.ts';
import { allowedBy, guardedCluster } from '../support/guarded-cluster.ts';
import { put } from '../support/hep-sandbox.ts';
import { runOclif } from '../support/run-oclif.ts';
import { compositionOf } from '../support/sandbox-command.ts';
import { installedSandbox, performIn, sandboxPorts } from '../support/sandbox-ports.ts';

const scope = { documents: documentKinds, meshed: true };
const rights = (command: string) => permissionsOf(command, netsvc, scope);

/** What kubectl and the lock do goes past the guard here; test/full/printed-roles.test.ts holds those to the roles. */
async function perform(scenario: Scenario, stages: typeof usualChain, permissions: readonly Permission[], flags: object = {}) {
  const ports = sandboxPorts(scenario);
  const { cluster, denied } = guardedCluster(ports.cluster, allowedBy(permissions));
  const outcome = await performIn(scenario, stages, flags, { ports: { ...ports, cluster } });
  return { outcome, denied: [...denied] };
}

/** The three stages for owner references are one command. */
const commandOf = (stage: string) => (stage.startsWith('ownerrefs-') ? 'ownerrefs' : stage);

/** A cluster on which each optional stage has something to do. */
async function toDo({ id, leavesNothing }: AnyStage): Promise<Scenario> {
  // Nodes are tried before an upgrade.
  const scenario = await installedSandbox(leavesNothing ? {} : { installed: netsvc.defaultRelease });
  put(scenario, 'KubeControllersConfiguration', 'default', { controllers: { node: { syncLabels: 'Enabled' } } });
  const policy = id === 'policy' ? netsvc.temporaryPolicy : 'hosts';
  put(scenario, 'GlobalNetworkPolicy', policy, { selector: 'role == "host"', types: ['Ingress', 'Egress'] });
  for (const node of ['node-01', 'node-02'])
    put(scenario, 'HostEndpoint', `old-${node}`, { node, interfaceName: '*', expectedIPs: ['10.0.0.1'] }, { role: 'host' });
  return scenario;
}

describe('an account with the role of one command', () => {
  const installed = () => installedSandbox();

  it('performs the whole chain with that of run', async () => {
    const { outcome, denied } = await perform(await installed(), usualChain, rights('run'));
    assert.deepEqual([denied, outcome.exit, outcome.message], [[], 'done', undefined]);
  });

  it('performs each stage with that of its command, one after the other', async () => {
    const scenario = await installed();
    for (const stage of usualChain) {
      const { outcome, denied } = await perform(scenario, [stage], rights(commandOf(stage.id)), { accept: ['NS-009'] });
      assert.deepEqual([denied, outcome.exit, outcome.message], [[], 'done', undefined], stage.id);
    }
  });

  for (const stage of chain.filter(({ optional }) => optional)) {
    it(`performs ${stage.id} with that of ${stage.id}, and takes it back`, async () => {
      const scenario = await toDo(stage);
      const flags = stage.id === 'policy' ? { delete: netsvc.temporaryPolicy, accept: ['NS-721'] } : {};
      for (const undo of stage.undo ? [false, true] : [false]) {
        const { outcome, denied } = await perform(scenario, [stage], rights(stage.id), { ...flags, undo });
        assert.deepEqual([denied, outcome.exit, outcome.message], [[], 'done', undefined], undo ? 'the undo' : '');
        assert.ok(outcome.writes > 0);
      }
    });
  }

  for (const command of [['path'], ['permissions', '--for', 'run']])
    it(`needs no more than that of preflight --read-only for ${command[0]}`, async () => {
      const scenario = await installed();
      const permissions = rights('preflight-read-only');
      const denied: Set<string>[] = [];
      const ask = async (may: typeof permissions) => {
        const bench = commandBench(chain, {});
        const compose = async (request: ComposeRequest) => {
          const composition = compositionOf(scenario, request, { ...netsvc, testedLines: calico.testedLines });
          const guarded = guardedCluster(composition.cluster, allowedBy(may));
          denied.push(guarded.denied);
          return { ...composition, cluster: guarded.cluster };
        };
        return { exit: await runOclif(command, { ...bench.seams, compose }), out: bench.out() };
      };
      const whole = await ask(rights('run'));
      assert.deepEqual(await ask(permissions), whole);
      assert.deepEqual([...new Set(denied.flatMap((one) => [...one]))], ['list secrets.'], 'of helm; without them it is no chart');
      assert.ok([0, 3].includes(whole.exit) && whole.out !== '', whole.out);
    });

  it('is told by preflight each right of run that it lacks, and that it would be stopped', async () => {
    const scenario = await installed();
    const [preflight] = usualChain;
    assert.ok(preflight);
    const lacks = ({ request }: Permission) => request.verb === 'update' && request.resource === 'leases';
    const { outcome } = await perform(
      scenario,
      [preflight],
      rights('run').filter((one) => !lacks(one)),
    );
    const finding = outcome.findings.find(({ id }) => id === 'NS-009');
    assert.deepEqual(
      [outcome.exit, finding?.evidence?.map(({ text }) => text)],
      ['blocked', ['update leases.coordination.k8s.io in kube-system']],
    );
  });
});
