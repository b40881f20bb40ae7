import type { Action } from '../kernel/action.ts';
import type { Context } from '../kernel/context.ts';
import { changesSomething, type EnginePorts, typeOf } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import { Fault, messageOf } from '../kernel/fault.ts';
import { K } from '../kernel/kinds.ts';
import { Outdated } from '../kernel/outdated.ts';
import type { AnyStage } from '../kernel/stage.ts';
import type { Executor } from './execute.ts';
import type { Hold } from './hold.ts';
import type { Judged } from './judged.ts';
import type { Recorder } from './recorder.ts';

export interface ActorParts {
  readonly recorder: Recorder;
  readonly executor: Executor;
  readonly hold: Hold;
  readonly judged: Judged;
}

/** What became of an action that did not fail. */
export interface Acted {
  /** The action's precondition no longer held: nothing was written, plan again. */
  readonly outdated?: Outdated;
  /** What a wait continued without, and why. */
  readonly left?: Readonly<Record<string, string>>;
  readonly told?: string;
}

/** Performs single actions: cluster checked, removal recorded, then the effect, told to the observers. */
export class Actor {
  readonly #ports: EnginePorts;
  readonly #context: Context;
  readonly #observe: Observer;
  readonly #recorder: Recorder;
  readonly #executor: Executor;
  readonly #hold: Hold;
  readonly #judged: Judged;
  /** Actions that changed something. */
  writes = 0;

  constructor(ports: EnginePorts, context: Context, observe: Observer, { recorder, executor, hold, judged }: ActorParts) {
    this.#ports = ports;
    this.#context = context;
    this.#observe = observe;
    this.#recorder = recorder;
    this.#executor = executor;
    this.#hold = hold;
    this.#judged = judged;
  }

  /** A first Ctrl-C lets it come to its end, but for a wait: the cluster continues by itself. */
  act(stage: AnyStage, action: Action, index: number, of: number): Promise<Acted> {
    const perform = () => this.#act(stage, action, index, of);
    return action.effect.type === 'wait' ? perform() : this.#ports.interruption.finish(perform);
  }

  async #act(stage: AnyStage, action: Action, index: number, of: number): Promise<Acted> {
    const changes = this.#context.options.dryRun === 'none' && changesSomething(this.#ports.effects, action);
    const started = this.#ports.clock.now().getTime();
    this.#observe({ type: 'action-started', stage: stage.id, action, index, of });
    let kept: string | undefined;
    try {
      if (changes) kept = await this.#prepare(stage, action);
      const { detail, digests, notes, left, told } = await this.#executor.perform(stage.id, action);
      if (changes) this.writes += 1;
      if (this.#context.options.dryRun === 'none') this.#judged.cured(action);
      this.#recorder.settle(kept, { done: true });
      if (digests) await this.#recorder.learn(digests);
      if (notes) await this.#recorder.note(notes);
      const durationMs = this.#ports.clock.now().getTime() - started;
      this.#observe({ type: 'action-done', stage: stage.id, action, durationMs, ...(detail ? { detail } : {}) });
      return { ...(left ? { left } : {}), ...(told === undefined ? {} : { told }) };
    } catch (thrown) {
      const interrupted = thrown instanceof Fault && thrown.code === 'interrupted';
      this.#observe({
        type: 'action-failed',
        stage: stage.id,
        action,
        message: messageOf(thrown),
        ...(interrupted ? { interrupted } : {}),
      });
      if (!(thrown instanceof Outdated)) throw thrown;
      const { outcome } = thrown;
      this.#recorder.settle(kept, outcome);
      if (outcome?.done) this.writes += 1;
      return { outdated: thrown };
    }
  }

  /** Resolves to the id under which is kept what is about to be removed. */
  async #prepare(stage: AnyStage, action: Action): Promise<string | undefined> {
    // The adapter guards its own writes; what programs write is guarded here.
    if (action.effect.type !== 'patch') await this.#sameCluster();
    // Whoever took the lock over meanwhile keeps things under the same numbers.
    this.#hold.mustHold();
    const kept = await this.#recorder.keep(stage.id, action);
    const { notesFirst } = typeOf(this.#ports.effects, action.effect);
    if (notesFirst) await this.#recorder.note(notesFirst);
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
