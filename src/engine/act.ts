import type { Action } from '../kernel/action.ts';
import type { Context } from '../kernel/context.ts';
import { type Around, changesSomething, type EnginePorts, type Performed, typeOf } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import { Fault, HeldFault, messageOf, Outdated } from '../kernel/fault.ts';
import { isInterrupted } from '../kernel/interruption.ts';
import { K } from '../kernel/kinds.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { RunMore } from './chain-outcome.ts';
import { Hold } from './hold.ts';
import { Judged } from './judged.ts';
import { Looks } from './plan-chain.ts';
import { Recorder } from './recorder.ts';

interface ActorParts {
  readonly recorder: Recorder;
  readonly executor: Executor;
  readonly hold: Hold;
  readonly judged: Judged;
}

/** What became of an action that did not fail. */
interface Acted {
  /** The action's precondition no longer held: nothing was written, plan again. */
  readonly outdated?: Outdated;
  /** What a wait continued without, and why. */
  readonly left?: Readonly<Record<string, string>>;
  readonly told?: string;
}

/** Performs single actions: cluster checked, removal recorded, then the effect, told to the observers. */
class Actor {
  readonly #ports: EnginePorts;
  readonly #context: Context;
  readonly #observe: Observer;
  readonly #recorder: Recorder;
  readonly #executor: Executor;
  readonly #hold: Hold;
  readonly #judged: Judged;
  /** Actions that changed something. */
  writes = 0;
  /** What was begun and did not end. */
  atWork: Action | undefined;
  /** What was begun last. */
  last: Action | undefined;

  constructor(ports: EnginePorts, context: Context, observe: Observer, { recorder, executor, hold, judged }: ActorParts) {
    this.#ports = ports;
    this.#context = context;
    this.#observe = observe;
    this.#recorder = recorder;
    this.#executor = executor;
    this.#hold = hold;
    this.#judged = judged;
  }

  /** A first Ctrl-C lets it finish, except a wait: the cluster continues by itself. */
  act(stage: AnyStage, action: Action): Promise<Acted> {
    const perform = () => this.#act(stage, action);
    return action.effect.type === 'wait' ? perform() : this.#ports.interruption.finish(perform);
  }

  async #act(stage: AnyStage, action: Action): Promise<Acted> {
    const changes = this.#context.options.dryRun === 'none' && changesSomething(this.#ports.effects, action);
    const started = this.#ports.clock.now().getTime();
    const place = this.#recorder.steps.reached(stage.id, action);
    this.#observe({ type: 'action-started', stage: stage.id, action, ...(place ? { place } : {}) });
    this.atWork = action;
    this.last = action;
    let kept: string | undefined;
    try {
      if (changes) kept = await this.#prepare(stage, action);
      const again = () => this.#recorder.watches(stage, action);
      await again();
      const { detail, digests, notes, left, told } = await this.#executor.perform(stage.id, action, again);
      if (changes) this.writes += 1;
      if (this.#context.options.dryRun === 'none') this.#judged.cured(action);
      this.#recorder.kept.settle(kept, { done: true });
      if (digests) await this.#recorder.learn(digests);
      if (notes) await this.#recorder.note(notes);
      const durationMs = this.#ports.clock.now().getTime() - started;
      this.#observe({ type: 'action-done', stage: stage.id, action, durationMs, ...(detail ? { detail } : {}) });
      this.atWork = undefined;
      return { ...(left ? { left } : {}), ...(told === undefined ? {} : { told }) };
    } catch (thrown) {
      this.#tellFailed(stage, action, thrown);
      if (!(thrown instanceof Outdated)) throw thrown;
      this.atWork = undefined;
      this.#recorder.kept.settle(kept, thrown.outcome);
      if (thrown.hasWritten) this.writes += 1;
      await this.#recorder.owes(thrown);
      return { outdated: thrown };
    }
  }

  #tellFailed({ id: stage }: AnyStage, action: Action, thrown: unknown): void {
    // What watches the run, or the lock, may have stopped it, and not the user.
    const cause = isInterrupted(thrown) ? this.#hold.causeOf(thrown, action) : thrown;
    const ends = { ...(isInterrupted(cause) ? { interrupted: true } : {}), ...(cause instanceof HeldFault ? { held: true } : {}) };
    this.#observe({ type: 'action-failed', stage, action, message: messageOf(cause), ...ends });
  }

  /** Resolves to the id under which is kept what is about to be removed. */
  async #prepare(stage: AnyStage, action: Action): Promise<string | undefined> {
    // The adapter guards its own writes; what programs write is guarded here.
    if (action.effect.type !== 'patch-all') await this.#sameCluster();
    // Whoever took the lock over meanwhile keeps things under the same numbers.
    this.#hold.mustHold();
    const kept = await this.#recorder.keep(stage.id, action);
    const { notesFirst } = typeOf(this.#ports.effects, action.effect);
    if (notesFirst) await this.#recorder.note(notesFirst);
    if (action.pointOfNoReturn !== undefined) await this.#recorder.passes(action.pointOfNoReturn);
    // Nothing may come between this and the write: the process may have slept through everything above.
    this.#hold.mustHold();
    return kept;
  }

  /** The cluster that the user confirmed is the cluster that is written to (house rule 5). */
  async #sameCluster(): Promise<void> {
    const system = await this.#ports.cluster.get(K.Namespace, 'kube-system');
    const uid = system?.metadata.uid;
    if (uid === this.#context.clusterUid) return;
    throw new Fault(
      'failed',
      `this is another cluster than the one confirmed: kube-system has UID ${uid ?? 'none'}, not ${this.#context.clusterUid}`,
      ['check the kubeconfig and its context; nothing was written'],
    );
  }
}

/** What the stages of one chain share. */
export interface ChainParts {
  readonly stages: readonly AnyStage[];
  readonly ports: EnginePorts;
  readonly context: Context;
  readonly observe: Observer;
  readonly more: RunMore;
  /** No dry run. */
  readonly live: boolean;
  readonly hold: Hold;
  /** What stages see of the cluster. */
  readonly looks: Looks<EnginePorts>;
  readonly recorder: Recorder;
  readonly judged: Judged;
  readonly actor: Actor;
  /** By stage, as it was before the stage changed anything. */
  readonly plans: Map<string, PlannedStage>;
}

export function chainParts(
  stages: readonly AnyStage[],
  ports: EnginePorts,
  context: Context,
  observe: Observer,
  more: RunMore,
): ChainParts {
  const live = context.options.dryRun === 'none';
  const hold = new Hold(ports, more.sentinel);
  const looks = more.looks ?? new Looks(ports);
  const { id: leavesRun = more.leavesRun } = stages.flatMap(({ checks }) => checks).find((one) => one.leavesRun) ?? {};
  const recorder = new Recorder(ports, context, () => looks.noted(), { ...more, leavesRun });
  const judged = new Judged();
  const executor = live ? realExecutor(ports, observe, hold, context.options) : serverDryRunExecutor(ports, observe, hold);
  const actor = new Actor(ports, context, observe, { recorder, executor, hold, judged });
  return { stages, ports, context, observe, more, live, hold, looks, recorder, judged, actor, plans: new Map() };
}

/** Performs one action. */
interface Executor {
  perform(stage: string, action: Action, watchesAgain: Around['watchesAgain']): Promise<Performed>;
}

/** When to end what is under way: waits at the first Ctrl-C, programs only when nothing may be written any more. */
type Ends = Pick<Hold, 'stop' | 'cut' | 'mustHold' | 'watch' | 'watcher'>;

/** The one that really acts. */
export function realExecutor(ports: EnginePorts, observe: Observer, ends: Ends, limits: Around['limits']): Executor {
  const around = surroundings(observe, ends, limits);
  return {
    perform: (stage, action, again) => typeOf(ports.effects, action.effect).perform(ports, action.effect, around(stage, action, again)),
  };
}

/** `--dry-run=server`: the server answers every write, nothing is stored; what needs the write is only announced. */
function serverDryRunExecutor(ports: EnginePorts, observe: Observer, ends: Ends): Executor {
  const around = surroundings(observe, ends, {});
  return {
    perform: (stage, action, again) => typeOf(ports.effects, action.effect).dryRun(ports, action.effect, around(stage, action, again)),
  };
}

function surroundings(observe: Observer, ends: Ends, limits: Around['limits']): (...of: Parameters<Executor['perform']>) => Around {
  const leftBehind = new Set<string>();
  return (stage, action, watchesAgain) => ({
    stop: ends.stop,
    cut: ends.cut,
    mustHold: () => ends.mustHold(),
    watch: (watcher) => ends.watch(watcher),
    watcher: (name) => ends.watcher(name),
    // `status` alone goes by it.
    watchesAgain: () => watchesAgain().catch(() => undefined),
    limits,
    leftBehind,
    report: (done, of, what, why) => observe({ type: 'progress', stage, done, of, what, ...(why ? { why } : {}) }),
    warn: (text) => observe({ type: 'note', stage, text, level: 'warning' }),
    onProgress: (progress, elapsedMs) => observe({ type: 'rollout', stage, progress, elapsedMs }),
    onNetwork: (network, because) => observe({ type: 'network', network, ...(because === undefined ? {} : { because }) }),
    onLine: (line, stream) => observe({ type: 'action-output', stage, action, line, stream }),
  });
}
