import { command } from '../../kernel/argv.ts';
import { timeText } from '../../kernel/counted.ts';
import type { Around, ExpectationTypes, Performed } from '../../kernel/effect-type.ts';
import { Fault, PodFault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import { seePod } from '../../kernel/pod-look.ts';
import type { Clock, ClusterReader, Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { AGAIN, seeWhy, text } from '../../kernel/step.ts';
import { isReady } from '../../kube/judge-pod.ts';
import { conditionOf } from '../../kube/pod-facts.ts';
import { shapeOf } from '../../kube/workload.ts';
import { listed } from '../survey/index.ts';
import { canaryView, HELD, HELD_ON, type HeldFor, Steady } from './canary-view.ts';
import { FailedPods, IMPACT } from './failed-pods.ts';
import { judgedView, refuseUntried } from './judged.ts';
import { PodEvents } from './pod-events.ts';
import { latePods, reasonsOf } from './pod-reasons.ts';
import { Board, CONTINUE } from './rollout-board.ts';
import { openFeeds } from './rollout-feeds.ts';

/** Every workload is rolled out and ready. */
interface RolloutExpected {
  readonly type: 'rollout';
  readonly targets: readonly RolloutTarget[];
  /** More failed pods than this end the wait (exit 5). */
  readonly maxFailed: number;
  /** Workloads with tolerated failed pods are left behind, counted over all such waits of a run, and do not hold the chain up. */
  readonly goesOn?: true;
  /** Over as soon as one pod is new and ready. */
  readonly untilFirst?: true;
  /** Over when the pods of these nodes are new and ready, and whatever else is new: the workload replaces no pod by itself. */
  readonly only?: readonly string[];
  /** Over once it has stayed so for this long. Milliseconds. */
  readonly holdMs?: number;
  /** It replaces none until the user or the run lets it: for a canary, or while the rest waits for this. */
  readonly heldFor?: HeldFor;
  /** Whatever is new is looked at before all others follow: that of the nodes in `only`, and of others. */
  readonly isJudged?: true;
}

/** A pod that is to be replaced. */
export interface OldPod {
  readonly node: string;
  readonly name: string;
  readonly uid: string;
  /** `away`: it is not ready, and its node is; `lost`: its node is not. */
  readonly is: 'ready' | 'away' | 'lost';
}

/** What a driver sees at this moment. */
export interface DriverView {
  /** Pods that nobody has deleted yet. */
  readonly old: readonly OldPod[];
  /** Those with a pod that is new and ready, and since when. Milliseconds since the epoch. */
  readonly ready: ReadonlyMap<string, number>;
  /** For how long a pod has to be ready until another may be away. */
  readonly minReadyMs: number;
  /** That are known. */
  readonly nodes: ReadonlyMap<string, unknown>;
  /** More new pods have failed than are tolerated: the wait stops, or sees them come back. */
  readonly hasFailed: boolean;
}

/** Replaces the pods of a workload that replaces none by itself. */
export interface PodDriver {
  /** Nodes whose pods have to be new by now. */
  readonly nodes: readonly string[];
  /** The nodes of a canary, whose pods are old yet or new. */
  readonly chosen?: readonly string[] | undefined;
  /** What it was at as it was asked to stop, and has ended since. */
  readonly stoppedIn?: string | undefined;
  /**
   * They are: replaces some others, and re-checks where that takes its time. False where none is left to replace, `later` where none may
   * be yet. Throws Fault where none may be for long.
   */
  next(look: () => DriverView, waited: number): Promise<boolean | 'later'>;
}

/** More time between two looks does not count as waited: the clock was set, or the machine slept. */
const LONGEST_STEP_MS = 10_000;

export interface WaitRequest extends Omit<RolloutExpected, 'type' | 'goesOn'> {
  /** If given, failed pods within the limit do not hold the wait up: they are added here to those of earlier waits. */
  readonly leftBehind?: Set<string>;
  readonly timeoutMs: number;
  /** In place of `only`; the time limit is for each of its steps. */
  readonly driver?: PodDriver;
  /** Ends the wait at once (Ctrl-C, lost lock). */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: readonly RolloutProgress[], elapsedMs: number) => void;
  /** `holdMs` begins again. */
  readonly watchesAgain?: () => Promise<void>;
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
    return await loop(board, new PodEvents(cluster, board, request), clock, request, signal);
  } catch (thrown) {
    throw await withReasons(thrown, cluster, viewOf(request, board, clock.now().getTime()) ?? []);
  } finally {
    end.abort();
  }
}

/** Why it is so, said by the cluster itself, below the commands that show the rest. */
async function withReasons(thrown: unknown, cluster: ClusterReader, progress: readonly RolloutProgress[]): Promise<unknown> {
  if (!(thrown instanceof Fault) || (thrown.code !== 'stopped' && thrown.code !== 'timeout')) return thrown;
  const { code, message, cause } = thrown;
  const reasons = await reasonsOf(cluster, latePods(progress));
  const looks = thrown.steps.filter(({ kind }) => kind === 'look');
  const steps = [...looks, ...reasons, ...thrown.steps.filter(({ kind }) => kind !== 'look')];
  return thrown instanceof PodFault ? new PodFault(code, message, steps, thrown.pods) : new Fault(code, message, steps, cause);
}

/** Some agent has the template of the DaemonSet: once others are to follow, and in a soak, whose agents all had it as it began. */
const isOfTemplate = ({ isJudged, holdMs, heldFor }: WaitRequest): boolean =>
  isJudged === true || (holdMs !== undefined && heldFor === 'canary');

async function loop(
  board: Board,
  events: PodEvents,
  clock: Clock,
  request: WaitRequest,
  signal: AbortSignal,
): Promise<readonly RolloutProgress[]> {
  const time = new Waiting(clock.now().getTime(), request.timeoutMs);
  const failed = new FailedPods(request, board);
  const stays = new Steady({ ...request, isWatched: request.only !== undefined || request.driver !== undefined });
  const isTried = isOfTemplate(request);
  const isEnd = async (progress: readonly RolloutProgress[], waited: number, now: number): Promise<boolean> => {
    const { since } = stays;
    // Which pods are old is known once the controller has seen the template.
    const isKnown = (request.driver === undefined && !isTried) || board.isObserved;
    if (isKnown && isTried) refuseUntried(board.progress(now) ?? [], progress, request);
    if (isKnown && stays.isOver(progress, board, waited, now)) {
      const more = await request.driver?.next(() => driverView(board, request, clock, stays), waited);
      if (!more) return true;
      if (more === true) time.renew();
      else time.lengthen(minReadyMs(board));
    }
    // The whole time is watched again; what lapses again and again has its limit.
    if (since !== undefined && stays.since !== undefined && stays.since !== since) {
      time.renew();
      await request.watchesAgain?.();
    }
    return (request.untilFirst === true && hasNew(progress)) || failed.judge(progress, waited);
  };
  for (;;) {
    const now = clock.now().getTime();
    const waited = time.at(now);
    if (request.signal.aborted)
      throw new Fault('interrupted', stoppedText(request, stays, waited), [...(request.heldFor ? [HELD_ON] : []), ...CONTINUE]);
    const progress = viewOf(request, board, now);
    if (progress) {
      const shown = shownOf(request, board, now) ?? progress;
      request.onProgress(events.late.told(watchedIn(shown, request, stays, waited)), waited);
      if (await isEnd(progress, waited, now)) return progress;
      events.look(progress, waited);
    }
    // What is watched for hours has no more time than others to come back.
    const { holdMs, timeoutMs } = request;
    const backMs = holdMs === undefined ? Number.POSITIVE_INFINITY : timeoutMs - holdMs;
    if (stays.openFor(waited) >= backMs) throw timeout(progress, { ...request, timeoutMs: backMs }, minReadyMs(board));
    if (time.isUp) throw timeout(progress, request, minReadyMs(board));
    await board.change(clock, signal);
  }
}

function watchedIn(progress: readonly RolloutProgress[], { holdMs: of }: WaitRequest, { since }: Steady, waited: number) {
  if (of === undefined || since === undefined) return progress;
  return progress.map((one): RolloutProgress => ({ ...one, watched: { ms: Math.min(waited - since, of), of } }));
}

/** What the user has stopped. */
function stoppedText({ driver, holdMs }: WaitRequest, { since }: Steady, waited: number): string {
  if (driver?.stoppedIn !== undefined) return `stopped once ${driver.stoppedIn} had ended`;
  if (holdMs === undefined || since === undefined) return 'stopped while waiting for the rollout';
  return `stopped in the soak, after ${timeText(waited - since)} of ${timeText(holdMs)}`;
}

/** Time that was waited, which only grows, and the limit of what is waited for now. */
class Waiting {
  readonly #limitMs: number;
  #last: number;
  #waited = 0;
  #begun = 0;
  #until: number;

  constructor(now: number, limitMs: number) {
    this.#last = now;
    this.#limitMs = limitMs;
    this.#until = limitMs;
  }

  at(now: number): number {
    this.#waited += Math.min(Math.max(now - this.#last, 0), LONGEST_STEP_MS);
    this.#last = now;
    return this.#waited;
  }

  renew(): void {
    this.#begun = this.#waited;
    this.lengthen(0);
  }

  lengthen(ms: number): void {
    this.#until = this.#begun + this.#limitMs + ms;
  }

  get isUp(): boolean {
    return this.#waited >= this.#until;
  }
}

const hasNew = (progress: readonly RolloutProgress[]): boolean => progress.some(({ pods }) => pods.some(({ phase }) => phase === 'new'));

function driverView(board: Board, { maxFailed }: WaitRequest, clock: Clock, stays: Steady): DriverView {
  const all = (board.progress(clock.now().getTime()) ?? []).flatMap(({ target, pods }) =>
    pods.flatMap((pod) => {
      const facts = board.pods.get(target)?.get(pod.pod);
      return facts ? [{ ...pod, target, facts }] : [];
    }),
  );
  const old = all
    .filter(({ phase }) => phase === 'old')
    .map(({ node, target, facts }): OldPod => {
      const is = board.nodes.get(node)?.ready !== true ? 'lost' : isReady(facts, target.ready) ? 'ready' : 'away';
      return { node, name: facts.name, uid: facts.uid, is };
    });
  const failed = all.filter(({ phase }) => phase === 'failed');
  const restarted = all.filter(({ phase, facts }) => phase === 'new' && stays.hasRestarted(facts));
  // Each is tolerated by itself, as whoever stops the wait counts them.
  const hasFailed = failed.length > maxFailed || restarted.length > maxFailed;
  const ready = new Map(all.filter(({ phase }) => phase === 'new').map(({ node, facts }) => [node, facts.readyAt ?? 0]));
  return { old, ready, minReadyMs: minReadyMs(board), nodes: board.nodes, hasFailed };
}

const minReadyMs = ({ workloads }: Board): number =>
  Math.max(0, ...[...workloads.values()].map((one) => shapeOf(one).spec?.minReadySeconds ?? 0)) * 1000;

/** Of a canary only what is new, or is to be. */
function viewOf(request: WaitRequest, board: Board, now: number): readonly RolloutProgress[] | undefined {
  const { driver, maxFailed } = request;
  const all = board.progress(now);
  const only = driver?.nodes ?? request.only;
  if (request.isJudged) return all?.map((one) => judgedView(one, board, only ?? [], maxFailed, now));
  return only ? all?.map((one) => canaryView(one, only, board.nodes, request)) : all;
}

/** What is told of it: where a driver replaces one pod after another, all that it is to replace. */
function shownOf({ driver, ...request }: WaitRequest, board: Board, now: number): readonly RolloutProgress[] | undefined {
  return driver && viewOf(driver.chosen ? { ...request, only: driver.chosen } : request, board, now);
}

function timeout(known: readonly RolloutProgress[] | undefined, { timeoutMs, heldFor }: WaitRequest, readyMs: number): Fault {
  const progress = known ?? [];
  const lagging = progress.filter((one) => !one.done);
  const lines = lagging.map((one) => `${one.target.kind} ${one.target.namespace}/${one.target.name}: ${one.pending}${laggards(one)}`);
  const late = latePods(lagging).map(({ namespace, pod }) => ({ namespace, name: pod }));
  const fact = `not complete after ${Math.round(timeoutMs / 1000)} s: ${lines.join('; ') || (known ? `the next agent has to wait until those before it are ready for ${timeText(readyMs)} (minReadySeconds)` : 'the cluster did not answer')}`;
  // Nothing rolls out before the workload has the image.
  const rest = lagging.some(({ unapplied }) => unapplied) ? UNAPPLIED : heldFor ? HELD : LATE;
  return new PodFault('timeout', fact, [...late.map(seePod), ...lagging.flatMap(({ step }) => step ?? []), IMPACT, ...rest], late);
}

const LATE = ['fix the pods that are named; the rollout continues meanwhile', 'run the same command again, or wait longer with --timeout'];
const UNAPPLIED = [text`the new release is not applied to all of them, and no wait changes that: ${command`kubectl netsvc-upgrade run`}`];

function laggards(progress: RolloutProgress): string {
  const lag = progress.pods.filter((pod) => pod.phase === 'failed' || pod.phase === 'updating').slice(0, 5);
  return lag.length === 0 ? '' : ` (${lag.map((pod) => `${pod.node || pod.pod}: ${pod.why || pod.phase}`).join(', ')})`;
}

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly rollout: RolloutExpected;
    readonly 'apiservice-available': ApiServicesExpected;
  }
}

export const rolloutExpectations: Pick<ExpectationTypes, 'rollout' | 'apiservice-available'> = {
  rollout: {
    async wait({ cluster, clock }, { type: _, goesOn, ...expected }, { timeoutMs, stop, onProgress, leftBehind, watchesAgain }) {
      const limits = { ...expected, timeoutMs, ...(goesOn ? { leftBehind } : {}) };
      const { untilFirst } = expected;
      const progress = await waitRollout(cluster, clock, { ...limits, signal: stop, onProgress, watchesAgain });
      return untilFirst ? {} : outcomeOf(progress);
    },
    text: ({ targets, untilFirst, only, holdMs }) => {
      const what = untilFirst ? 'first pod' : only ? 'new pods' : 'rollout';
      const where = only && only.length > 0 ? ` on ${listed(only)}` : '';
      return `the ${what} of ${targets.map(refText).join(', ')}${where}${holdMs === undefined ? '' : ` to stay ready for ${timeText(holdMs)}`}`;
    },
  },
  'apiservice-available': {
    wait: waitApiServices,
    text: ({ names }) => `APIService ${names.join(', ')} to be available`,
  },
};

function outcomeOf(progress: readonly RolloutProgress[]): Performed {
  const left = progress.filter(({ done }) => !done);
  if (left.length === 0) return {};
  const reasons = left.map(({ target: { kind, namespace, name }, pods, pending }) => [
    `${kind} ${namespace}/${name}`,
    pods.find(({ phase }) => phase === 'failed')?.why ?? pending,
  ]);
  return { left: Object.fromEntries(reasons), detail: `left behind: ${reasons.map(([name]) => name).join(', ')}` };
}

/** The aggregated API of these names answers. */
interface ApiServicesExpected {
  readonly type: 'apiservice-available';
  readonly names: readonly string[];
}

function unavailable(service: KubeObject | undefined): string | undefined {
  const condition = conditionOf(service, 'Available');
  if (condition?.status === 'True') return undefined;
  return condition?.message ?? (service ? 'no Available condition yet' : 'does not exist');
}

type Wait = Pick<Around, 'stop'> & { readonly timeoutMs: number };

/** Waits until every named APIService says Available. Throws Fault `timeout` or `interrupted`. */
async function waitApiServices({ cluster, clock }: Sources, { names }: ApiServicesExpected, { timeoutMs, stop }: Wait): Promise<Performed> {
  const late = new AbortController();
  void clock.sleep(timeoutMs, stop).then(
    () => late.abort(),
    () => undefined,
  );
  const open = new Map(names.map((name) => [name, 'not seen yet']));
  for await (const update of cluster.watch(K.APIService, { signal: AbortSignal.any([stop, late.signal]) })) {
    for (const service of update.type === 'snapshot' ? update.items : [update.object]) {
      const name = service.metadata.name;
      if (!names.includes(name)) continue;
      const why = unavailable(update.type === 'deleted' ? undefined : service);
      if (why === undefined) open.delete(name);
      else open.set(name, why);
    }
    if (open.size === 0) return {};
  }
  if (stop.aborted) throw new Fault('interrupted', 'stopped while waiting for the aggregated API', [AGAIN]);
  const list = [...open].map(([name, because]) => `${name}: ${because}`).join('; ');
  throw new Fault('timeout', `APIService not available after ${Math.round(timeoutMs / 1000)} s: ${list}`, [
    seeWhy(command`kubectl describe apiservice ${[...open.keys()]}`),
    text`look at the pods of its server, then ${AGAIN}`,
  ]);
}
