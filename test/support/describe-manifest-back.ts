import assert from 'node:assert/strict';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import { chains, usualChain } from '../../src/features/chain.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { LAST_APPLIED } from '../../src/kube/managed-fields.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import { assertDone, badLine, faultPoints, faultyCluster, type LineFault } from './owner-faults.ts';
import { sampled } from './owner-sweep.ts';
import { addPolicy, renamed, storedNames } from './rolled-back.ts';
import { contextIn, type Flags, installedSandbox, sandboxPorts } from './sandbox-ports.ts';
import { NETSVC_TARGET } from './target.ts';

/** In waves, and with the names and labels of v3.32. */
const profile: Profile = {
  ...{ ...netsvc, typhaRefusesAgentsBefore: 'v3.28.0' },
  policyRenaming: { since: 'v3.32.0', prefix: 'default.', switchField: 'spec.controllers.policyMigration.enabled' },
  olderReaders: {
    ...(renamed.olderReaders ?? assert.fail()),
    ...{ ownMetadataBefore: 'v3.28.0', tiersSince: 'v3.29.0' },
    newBlocks: { since: 'v3.30.0', plural: 'ipamblocks', affinity: 'virtual:', pools: 'LoadBalancer', use: 'services' },
  },
};
const COMMON: Flags = { skip: ['cli'], yes: true, accept: ['NS-301'] };
interface Ended {
  /** Absent: it was killed. */
  readonly outcome?: ChainOutcome;
  readonly requests: readonly string[];
}

async function perform(scenario: Scenario, stages: readonly AnyStage[], fault?: LineFault): Promise<Ended> {
  await scenario.clock.sleep(10_000);
  const ports = sandboxPorts(scenario);
  const line = badLine(scenario, fault);
  const { cluster } = faultyCluster(scenario.cluster, scenario, { lists: new Map(), line });
  const bad = { ...ports, cluster, tools: faultyTools(ports.tools, line), records: faultyRecords(ports.records, line) };
  const usual = contextIn(scenario, COMMON, profile);
  const here = { clusterUid: scenario.clusterUid, profile, readRecord: (content: unknown) => content as RunRecord };
  const isBack = stages === chains.rollback;
  const context = isBack ? { ...usual, goal: await goalBack(ports.records, here), intent: { kind: 'rollback' } as const } : usual;
  const outcome = await runChain(stages, bad, context, () => undefined, isBack ? {} : { leavesRun: 'NS-012' }).catch((thrown: unknown) => {
    if (scenario.cluster.faults.killed) return undefined;
    throw thrown;
  });
  return { ...(outcome ? { outcome } : {}), requests: line.requests };
}

export const forward = (scenario: Scenario, fault?: LineFault) => perform(scenario, usualChain, fault);
export const back = (scenario: Scenario, fault?: LineFault) => perform(scenario, chains.rollback, fault);

const KINDS = [K.DaemonSet, K.Deployment, K.ConfigMap, K.ClusterRole, K.ClusterRoleBinding, K.ServiceAccount, K.PodDisruptionBudget];
/** Of kubectl, and of controllers that count. */
const COUNTED = new Set([LAST_APPLIED, 'deployment.kubernetes.io/revision', 'deprecated.daemonset.template.generation']);

/** As a user knows it. */
function known({ metadata, status: _, ...rest }: KubeObject): unknown {
  const { labels, annotations = {} } = metadata;
  return { ...rest, labels, annotations: Object.fromEntries(Object.entries(annotations).filter(([key]) => !COUNTED.has(key))) };
}

export const stateOf = ({ cluster: { store } }: Scenario): Readonly<Record<string, unknown>> =>
  Object.fromEntries(KINDS.flatMap((kind) => store.list(kind).map((one) => [`${kind.plural}/${one.metadata.name}`, known(one)])));

/** With an edit of the user. */
export async function installed(): Promise<Scenario> {
  const scenario = await installedSandbox({ cli: false });
  const agents = { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'kube-system', name: 'netsvc-node' };
  const patch = [{ op: 'add', path: '/spec/template/spec/priorityClassName', value: 'own-critical' }] as const;
  await scenario.cluster.patch(K.DaemonSet, agents, patch, 'kubectl-edit');
  await scenario.clock.sleep(60_000);
  return scenario;
}

export async function upgraded(scenario: Scenario): Promise<void> {
  assertDone((await forward(scenario)).outcome, 'the upgrade');
  assert.match(JSON.stringify(stateOf(scenario)), new RegExp(`:${NETSVC_TARGET}"`));
  addPolicy(scenario, 'web');
}

interface Kills {
  /** Before each write, too, and not only after it: of these, and of kills before a read, which has changed nothing, so many. */
  readonly others: number;
  readonly seed: number;
}

/** After each write, and some of the other points: there a killed run leaves what it left after the request before. */
function kills(requests: readonly string[], { others, seed }: Kills): readonly LineFault[] {
  const all = faultPoints(requests).filter(({ type }) => type === 'kill-before' || type === 'kill-after');
  return [
    ...all.filter(({ type }) => type === 'kill-after'),
    ...sampled(
      all.filter(({ type }) => type === 'kill-before'),
      others,
      seed,
    ),
  ];
}

/** A rollback that is killed, and one of an upgrade that was: `npm test` takes a few of the points, `npm run test:full` more, others each day. */
export function describeKilledBack(which: Kills): void {
  describe(`going back on the manifest path, killed after each write and at ${which.others} other requests (SEED=${which.seed}), on the sandbox`, function () {
    this.timeout(1_800_000);

    it('is resumed by the same command, wherever it was killed', async () => {
      const first = await installed();
      await upgraded(first);
      const { requests } = await back(first);
      const points = kills(requests, which);
      assert.ok(points.length > 40, requests.join('\n'));
      for (const fault of points) {
        const scenario = await installed();
        const before = stateOf(scenario);
        await upgraded(scenario);
        await back(scenario, fault);
        const where = `${fault.type} ${fault.at}: ${requests[fault.at - 1] ?? ''}`;
        assertDone((await back(scenario)).outcome, where);
        assert.deepEqual([stateOf(scenario), storedNames(scenario)], [before, ['default.web']], where);
      }
    });

    it('takes back an upgrade, wherever that was killed', async () => {
      const { requests } = await forward(await installed());
      const points = kills(requests, which);
      let taken = 0;
      for (const fault of points) {
        const scenario = await installed();
        const before = stateOf(scenario);
        await forward(scenario, fault);
        const { record } = scenario.state;
        // Before its first write there is nothing to take back.
        if (record === undefined || record.wrote.length === 0) {
          assert.deepEqual(stateOf(scenario), before);
          continue;
        }
        taken += 1;
        const where = `${fault.type} ${fault.at}: ${requests[fault.at - 1] ?? ''}`;
        assertDone((await back(scenario)).outcome, where);
        assert.deepEqual(stateOf(scenario), before, where);
      }
      assert.ok(taken > 20, `${taken} of ${points.length}`);
    });
  });
}
