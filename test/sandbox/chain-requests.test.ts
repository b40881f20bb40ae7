import assert from 'node:assert/strict';
import { rememberAnswers } from '../../src/adapters/tools/tools.ts';
import type { ComposeRequest, Composition } from '../../src/cli/seams.ts';
import { readInstalled } from '../../src/features/survey/detect.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { ListOptions, Lock } from '../../src/kernel/ports.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

type Counts = Record<
  'detections' | 'owner searches' | 'dry applies' | 'twins' | 'pods' | 'permissions' | 'discoveries' | 'programs' | 'records' | 'journals',
  number
>;

/** Counts what costs most, wherever in the chain it is asked. */
function counting(composition: Composition, counts: Counts): Composition {
  const { cluster, tools, records, journal } = composition;
  const counted =
    <Call extends readonly unknown[], Answer>(what: keyof Counts, ask: (...call: Call) => Answer) =>
    (...call: Call): Answer => {
      counts[what] += 1;
      return ask(...call);
    };
  return {
    ...composition,
    // As every command has it: the version of kubectl is asked once, however many stages judge it.
    tools: rememberAnswers({ ...tools, run: counted('programs', tools.run) }),
    records: { ...records, load: counted('records', records.load), keptWith: counted('records', records.keptWith) },
    journal: { ...journal, load: counted('journals', journal.load) },
    cluster: {
      ...cluster,
      discover: counted('discoveries', cluster.discover),
      reviewAccess: counted('permissions', cluster.reviewAccess),
      dryRunApply: counted('dry applies', cluster.dryRunApply),
      dryRunCreate(kind, document) {
        counts[kind.plural === 'pods' ? 'pods' : 'twins'] += 1;
        return cluster.dryRunCreate(kind, document);
      },
      list(kind, options: ListOptions = {}) {
        // One list stands for all of a detection, and for all of a search.
        if (kind.plural === 'secrets' && options.labelSelector === 'owner=helm') counts.detections += 1;
        if (kind.plural === 'secrets' && options.ownedBy) counts['owner searches'] += 1;
        return cluster.list(kind, options);
      },
    },
  };
}

/** The lock as it is taken where another run had it since the command began. */
const disturbed = (lock: Lock): Lock => ({ ...lock, acquire: async () => ({ ...(await lock.acquire()), isUndisturbed: false }) });

/** What a command asks of a cluster that is to be upgraded. */
async function requestsOf(args: readonly string[], lockOf = (lock: Lock) => lock): Promise<Counts> {
  const counts: Counts = {
    ...{ detections: 0, 'owner searches': 0, 'dry applies': 0, twins: 0, pods: 0, permissions: 0, discoveries: 0, programs: 0 },
    ...{ records: 0, journals: 0 },
  };
  const clock = virtualClock({ start: new Date('2026-11-21T02:00:00Z') });
  const scenario = await installedSandbox({ nodes: 3, clock, cli: false });
  const bench = sandboxCommand(scenario);
  Object.assign(bench.seams, {
    compose: async (request: ComposeRequest) => {
      const composition = compositionOf(scenario, request);
      return counting({ ...composition, lock: lockOf(composition.lock) }, counts);
    },
    installed: (composition: Composition) => readInstalled(composition, composition.context),
  });
  assert.equal(await bench.run(...args, '--skip', 'cli'), 0, bench.err());
  return counts;
}

describe('the requests of a whole chain', () => {
  const objects = 21;

  const asked: Counts = {
    detections: 3,
    'owner searches': 3,
    // Before UIDs change all is looked at once more.
    'dry applies': 3 * objects,
    // How the server would make what was applied last tells edits: before the first write only.
    twins: 8,
    // One of each workload whose pods the upgrade starts, for the plan and right before the apply: admission judges pods alone.
    pods: 2 * 2,
    permissions: 1,
    discoveries: 3,
    // kubectl for its version, and for the one file.
    programs: 2,
    // First whether the run was begun with a command of the user's; asked again where the run has noted more.
    records: 5,
    journals: 3,
  };

  it('are asked once for the plan that holds under the lock, once right before UIDs change, and once about the result', async () => {
    assert.deepEqual(await requestsOf(['run', '--yes']), asked);
  });

  it('are asked once more under the lock where another run had it since the plan', async () => {
    const more = { detections: 4, 'owner searches': 4, discoveries: 4, records: 6, journals: 4 };
    // No object had changed since the plan, so that no answer to a dry run is asked for again.
    assert.deepEqual(await requestsOf(['run', '--yes'], disturbed), { ...asked, ...more });
  });

  it('are asked once for a plan', async () => {
    assert.deepEqual(await requestsOf(['plan']), {
      ...{ detections: 1, 'owner searches': 1, 'dry applies': objects, twins: 8, pods: 2, permissions: 1, discoveries: 1, programs: 1 },
      // For the stages, the time of earlier rollouts and what a run left unfinished.
      records: 1,
      journals: 1,
    });
  });

  it('of a wait are made before it watches: nothing is listed again while it waits or at its end, and one watch for each kind', async () => {
    const asked: string[] = [];
    const clock = virtualClock({ start: new Date('2026-11-21T02:00:00Z') });
    const scenario = await installedSandbox({ nodes: 3, clock, cli: false, installed: NETSVC_TARGET });
    const bench = sandboxCommand(scenario);
    const { store } = scenario.cluster;
    const agent = store.list(K.Pod).find(({ metadata }) => metadata.name.startsWith('netsvc-node-'));
    if (agent) store.markDeleted(K.Pod, agent);
    Object.assign(bench.seams, {
      compose: async (request: ComposeRequest) => {
        const composition = compositionOf(scenario, request);
        const { cluster } = composition;
        const list: typeof cluster.list = (kind, options) => {
          asked.push(`list ${kind.plural}`);
          return cluster.list(kind, options);
        };
        const watch: typeof cluster.watch = (kind, options) => {
          asked.push(['watch', options.keep ? 'facts of' : 'whole', kind.plural, options.labelSelector ?? ''].join(' ').trim());
          return cluster.watch(kind, options);
        };
        return { ...composition, cluster: { ...cluster, list, watch } };
      },
    });
    assert.equal(await bench.run('wait'), 0, bench.err());
    const watches = asked.filter((one) => one.startsWith('watch'));
    assert.deepEqual(watches.toSorted(), [
      'watch facts of nodes',
      'watch facts of pods k8s-app=netsvc-kube-controllers',
      'watch facts of pods k8s-app=netsvc-node',
      'watch whole daemonsets',
      'watch whole deployments',
    ]);
    assert.deepEqual(asked.slice(-watches.length), watches);
    assert.equal(asked.filter((one) => one === 'list nodes').length, 1);
  });
});
