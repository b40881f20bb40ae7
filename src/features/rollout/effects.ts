import type { ExpectationTypes, Performed } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { Clock, ClusterReader } from '../../kernel/ports.ts';
import type { RolloutProgress } from '../../kernel/rollout.ts';
import { conditionOf } from '../../kube/pod-facts.ts';
import { type RolloutExpected, waitRollout } from './wait-rollout.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly rollout: RolloutExpected;
    readonly 'apiservice-available': ApiServicesExpected;
  }
}

export const rolloutExpectations: Pick<ExpectationTypes, 'rollout' | 'apiservice-available'> = {
  rollout: {
    async wait({ cluster, clock }, { targets, maxFailed, goesOn, untilFirst }, { timeoutMs, stop, onProgress, leftBehind }) {
      const limits = { targets, maxFailed, timeoutMs, ...(goesOn ? { leftBehind } : {}), ...(untilFirst ? { untilFirst } : {}) };
      const progress = await waitRollout(cluster, clock, { ...limits, signal: stop, onProgress });
      return untilFirst ? {} : outcomeOf(progress);
    },
    text: ({ targets, untilFirst }) => `the ${untilFirst ? 'first pod' : 'rollout'} of ${targets.map(refText).join(', ')}`,
  },
  'apiservice-available': {
    async wait({ cluster, clock }, { names }, { timeoutMs, stop }) {
      await waitApiServices(cluster, clock, names, timeoutMs, stop);
      return {};
    },
    text: ({ names }) => `APIService ${names.join(', ')} to be available`,
  },
};

function outcomeOf(progress: readonly RolloutProgress[]): Performed {
  const left = progress.filter(({ done }) => !done);
  if (left.length === 0) return {};
  const names = left.map(nameOf);
  return { left: Object.fromEntries(left.map((one) => [nameOf(one), whyNot(one)])), detail: `left behind: ${names.join(', ')}` };
}

function nameOf({ target: { kind, namespace, name } }: RolloutProgress): string {
  return `${kind} ${namespace}/${name}`;
}

function whyNot({ pods, pending }: RolloutProgress): string {
  return pods.find(({ phase }) => phase === 'failed')?.why ?? pending;
}

/** The aggregated API of these names answers. */
interface ApiServicesExpected {
  readonly type: 'apiservice-available';
  readonly names: readonly string[];
}

function availability(service: KubeObject | undefined): { available: boolean; because: string } {
  const condition = conditionOf(service, 'Available');
  return {
    available: condition?.status === 'True',
    because: condition?.message ?? (service ? 'no Available condition yet' : 'does not exist'),
  };
}

/** Waits until every named APIService says Available. Throws Fault `timeout` or `interrupted`. */
async function waitApiServices(
  cluster: ClusterReader,
  clock: Clock,
  names: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.any([signal, abortAfter(clock, timeoutMs, signal)]);
  const open = new Map(names.map((name) => [name, 'not seen yet']));
  for await (const update of cluster.watch(K.APIService, { signal: limit })) {
    for (const service of update.type === 'snapshot' ? update.items : [update.object]) {
      const name = service.metadata.name;
      if (!names.includes(name)) continue;
      const { available, because } = availability(update.type === 'deleted' ? undefined : service);
      if (available) open.delete(name);
      else open.set(name, because);
    }
    if (open.size === 0) return;
  }
  if (signal.aborted) throw new Fault('interrupted', 'stopped while waiting for the aggregated API', ['run the same command again']);
  const list = [...open].map(([name, because]) => `${name}: ${because}`).join('; ');
  throw new Fault('timeout', `APIService not available after ${Math.round(timeoutMs / 1000)} s: ${list}`, [
    `see why: kubectl describe apiservice ${[...open.keys()].join(' ')}`,
    'look at the pods of its server, then run the same command again',
  ]);
}

function abortAfter(clock: Clock, ms: number, signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  void clock.sleep(ms, signal).then(
    () => controller.abort(),
    () => undefined,
  );
  return controller.signal;
}
