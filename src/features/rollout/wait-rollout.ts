import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Clock, ClusterReader } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { FailedPods, IMPACT } from './failed-pods.ts';
import { PodEvents } from './pod-events.ts';
import { latePods, reasonsOf } from './pod-reasons.ts';
import { Board, CONTINUE } from './rollout-board.ts';
import { openFeeds } from './rollout-feeds.ts';

/** Every workload is rolled out and ready. */
export interface RolloutExpected {
  readonly type: 'rollout';
  readonly targets: readonly RolloutTarget[];
  /** More failed pods than this end the wait. */
  readonly maxFailed: number;
  /** Workloads with tolerated failed pods are left behind, counted over all such waits of a run, and do not hold the chain up. */
  readonly goesOn?: true;
  /** Over as soon as one pod is new and ready. */
  readonly untilFirst?: true;
}

/** More time between two looks does not count as waited: the clock was set, or the machine slept. */
const LONGEST_STEP_MS = 10_000;

export interface WaitRequest {
  readonly targets: readonly RolloutTarget[];
  /** More failed pods than this end the wait (exit 5). */
  readonly maxFailed: number;
  /** If given, failed pods within the limit do not hold the wait up: they are added here to those of earlier waits. */
  readonly leftBehind?: Set<string>;
  /** One pod that is new and ready is enough. */
  readonly untilFirst?: true;
  readonly timeoutMs: number;
  /** Ends the wait at once (Ctrl-C, lost lock). */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: readonly RolloutProgress[], elapsedMs: number) => void;
}

/** Waits until `judgeRollout` is done with every target. Throws Fault: `timeout`, `stopped` (too many failed), `interrupted`. */
export async function waitRollout(cluster: ClusterReader, clock: Clock, request: WaitRequest): Promise<readonly RolloutProgress[]> {
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, request.signal]);
  const board = new Board(request.targets);
  const feeds = await openFeeds(cluster, board, request.targets, signal);
  const broken = Promise.all(feeds.map((feed) => feed())).then(() => undefined);
  broken.catch((thrown: unknown) => board.fail(thrown));
  try {
    return await loop(board, new PodEvents(cluster, board, request.maxFailed), clock, request, signal);
  } catch (thrown) {
    throw await withReasons(thrown, cluster, board.progress(clock.now().getTime()) ?? []);
  } finally {
    end.abort();
  }
}

/** Why it is so, said by the cluster itself, below the commands that show the rest. */
async function withReasons(thrown: unknown, cluster: ClusterReader, progress: readonly RolloutProgress[]): Promise<unknown> {
  if (!(thrown instanceof Fault) || (thrown.code !== 'stopped' && thrown.code !== 'timeout')) return thrown;
  const { code, message, suggestions, cause } = thrown;
  const reasons = await reasonsOf(cluster, latePods(progress));
  const looks = suggestions.filter((one) => one.startsWith(SEE));
  return new Fault(code, message, [...looks, ...reasons, ...suggestions.filter((one) => !looks.includes(one))], cause);
}

async function loop(
  board: Board,
  events: PodEvents,
  clock: Clock,
  request: WaitRequest,
  signal: AbortSignal,
): Promise<readonly RolloutProgress[]> {
  let [last, waited] = [clock.now().getTime(), 0];
  const failed = new FailedPods(request.maxFailed, request.leftBehind, board);
  for (;;) {
    if (request.signal.aborted) throw new Fault('interrupted', 'stopped while waiting for the rollout', CONTINUE);
    const now = clock.now().getTime();
    waited += Math.min(Math.max(now - last, 0), LONGEST_STEP_MS);
    last = now;
    const progress = board.progress(now);
    if (progress) {
      request.onProgress(events.told(progress), waited);
      if (progress.every((one) => one.done)) return progress;
      if (request.untilFirst && progress.some(({ pods }) => pods.some(({ phase }) => phase === 'new'))) return progress;
      if (failed.judge(progress, waited)) return progress;
      events.look(progress, waited);
    }
    if (waited >= request.timeoutMs) throw timeout(progress ?? [], request.timeoutMs);
    await board.change(clock, signal);
  }
}

function timeout(progress: readonly RolloutProgress[], limitMs: number): Fault {
  const lagging = progress.filter((one) => !one.done);
  const lines = lagging.map((one) => `${one.target.kind} ${one.target.namespace}/${one.target.name}: ${one.pending}${laggards(one)}`);
  return new Fault('timeout', `not complete after ${Math.round(limitMs / 1000)} s: ${lines.join('; ') || 'the cluster did not answer'}`, [
    ...looksAt(lagging),
    IMPACT,
    ...(lagging.some(isUnapplied) ? UNAPPLIED : LATE),
  ]);
}

const LATE = ['fix the pods above; the rollout continues meanwhile', 'run the same command again, or wait longer with --timeout'];
const UNAPPLIED = ['the new release is not applied to all of them, and no wait changes that: kubectl netsvc-upgrade run'];

/** Nothing rolls out before the workload has the image. */
function isUnapplied({ unapplied }: RolloutProgress): boolean {
  return unapplied === true;
}

const SEE = 'see why: ';

/** What shows why the first pods lag. */
function looksAt(lagging: readonly RolloutProgress[]): readonly string[] {
  return latePods(lagging).map(({ namespace, pod }) => `${SEE}${command`kubectl -n ${namespace} describe pod ${pod}`}`);
}

function laggards(progress: RolloutProgress): string {
  const lag = progress.pods.filter((pod) => pod.phase === 'failed' || pod.phase === 'updating').slice(0, 5);
  return lag.length === 0 ? '' : ` (${lag.map((pod) => `${pod.node || pod.pod}: ${pod.why || pod.phase}`).join(', ')})`;
}
