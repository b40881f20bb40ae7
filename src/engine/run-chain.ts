import { type Action, changesSomething } from '../core/action.ts';
import type { Finding } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import type { Observer } from '../core/event.ts';
import { type ExitName, Fault, messageOf } from '../core/fault.ts';
import type { PlannedStage } from '../core/plan.ts';
import type { StageRecord } from '../core/run-record.ts';
import type { AnyStage, OpenStage, StagePlan } from '../core/stage.ts';
import { Actor } from './act.ts';
import type { EnginePorts } from './engine-ports.ts';
import { realExecutor, serverDryRunExecutor } from './execute.ts';
import { Hold } from './hold.ts';
import { inChain } from './in-chain.ts';
import { Judged } from './judged.ts';
import { exitOf, type Looked, plannedStage } from './plan-chain.ts';
import { Recorder } from './recorder.ts';

export interface ChainOutcome {
  readonly exit: ExitName;
  readonly findings: readonly Finding[];
  readonly plans: readonly PlannedStage[];
  readonly stages: readonly StageRecord[];
  readonly message?: string;
  readonly suggestions: readonly string[];
  /** Stage that did not end. */
  readonly stoppedAt?: string;
  /** Actions that changed something. */
  readonly writes: number;
  /** Of the run record, if this chain began or continued one. */
  readonly runId?: string;
  /** Release that was installed when that run began. */
  readonly source?: string;
}

/**
 * What a stage needs after a round: to be judged and planned anew (the lock was just taken), to be planned anew
 * (the cluster moved on, or it converges in rounds), or nothing.
 */
type Next = 'judge' | 'plan' | 'done';

/** A stage is planned anew this often before the engine says that something else keeps changing it. */
const MAX_ROUNDS = 8;

/**
 * Performs a chain: per stage survey, judge, plan, perform. Every stage plans from the live cluster,
 * so the same call continues a run that was cut off anywhere, and a second one writes nothing.
 */
export async function runChain(
  stages: readonly AnyStage[],
  ports: EnginePorts,
  context: Context,
  observe: Observer,
  more: RunMore = {},
): Promise<ChainOutcome> {
  return new Chain(stages, ports, context, observe, more).run();
}

export interface RunMore {
  readonly keepsake?: Keepsake;
  /** Stages that the plan opened a moment ago; taken for what they are while nothing has been written. */
  readonly looked?: Looked;
  /**
   * The plan that was agreed to changes something: the lock is taken before the first stage that may act. Otherwise it is taken right
   * before the first write, and what was looked at without it is looked at again.
   */
  readonly changes?: boolean;
}

/** What is kept beside the run record about this part of the run; asked for once, at its end. */
export type Keepsake = (outcome: ChainOutcome) => Promise<unknown>;

class Chain {
  readonly #stages: readonly AnyStage[];
  readonly #ports: EnginePorts;
  readonly #context: Context;
  readonly #observe: Observer;
  readonly #hold: Hold;
  readonly #actor: Actor;
  readonly #recorder: Recorder;
  readonly #keepsake: Keepsake | undefined;
  readonly #looked: Looked;
  readonly #changes: boolean;
  readonly #judged = new Judged();
  readonly #plans = new Map<string, PlannedStage>();
  /** Writes when the current stage began. */
  #writesBefore = 0;

  constructor(
    stages: readonly AnyStage[],
    ports: EnginePorts,
    context: Context,
    observe: Observer,
    { keepsake, looked, changes }: RunMore,
  ) {
    this.#changes = changes ?? false;
    this.#keepsake = keepsake;
    this.#looked = looked ?? new Map();
    this.#stages = stages;
    this.#ports = ports;
    this.#context = context;
    this.#observe = observe;
    this.#hold = new Hold(ports);
    this.#recorder = new Recorder(ports, context);
    const executor = this.#live
      ? realExecutor(ports, observe, this.#hold, context.options)
      : serverDryRunExecutor(ports, observe, this.#hold);
    const parts = { recorder: this.#recorder, executor, hold: this.#hold, judged: this.#judged };
    this.#actor = new Actor(ports, context, observe, parts);
  }

  get #live(): boolean {
    return this.#context.options.dryRun === 'none';
  }

  async run(): Promise<ChainOutcome> {
    let current: AnyStage | undefined;
    try {
      for (const stage of this.#stages) {
        current = stage;
        const exit = await this.#stage(stage);
        if (exit) return await this.#end(exit, stage, undefined);
      }
      return await this.#end('done', undefined, undefined);
    } catch (caught) {
      const thrown = this.#hold.causeOf(caught);
      return await this.#end(thrown instanceof Fault ? thrown.code : 'failed', current, thrown);
    } finally {
      await this.#hold.release().catch(() => undefined);
    }
  }

  /** Resolves to the exit that stops the chain, if one does. */
  async #stage(stage: AnyStage): Promise<ExitName | undefined> {
    const startedAt = this.#ports.clock.now();
    this.#observe({ type: 'stage-started', stage: stage.id, title: stage.title });
    await this.#recorder.atWork(stage.id, startedAt);
    if (stage.judgesResult && !this.#live) return this.#ended(stage, startedAt, 'a dry run has no result to judge');
    if (this.#live && this.#changes && !stage.readOnly) await this.#hold.take();
    this.#writesBefore = this.#actor.writes;
    this.#actor.left.clear();
    let next: Next = 'judge';
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      this.#hold.mayGoOn();
      const open =
        this.#lookedAt(stage, round) ?? (await stage.open(this.#ports, inChain(this.#context, this.#stages, stage, !this.#live)));
      const exit = next === 'judge' ? this.#judge(stage, open, round === 1) : undefined;
      if (exit) return exit;
      const plan = open.plan();
      if ('skip' in plan) return this.#ended(stage, startedAt, round === 1 ? plan.skip : undefined);
      next = await this.#perform(stage, plan);
      if (next === 'done') return this.#ended(stage, startedAt, undefined);
    }
    throw new Fault('failed', `${stage.id} does not come to rest: something else keeps changing the same objects`, [
      'find the other writer with: kubectl get … --show-managed-fields -o yaml',
      'pause it, then continue with the same command',
    ]);
  }

  #lookedAt(stage: AnyStage, round: number): OpenStage | undefined {
    return this.#live && round === 1 && this.#actor.writes === 0 ? this.#looked.get(stage.id) : undefined;
  }

  /** Once when the stage begins, and again when the lock is held: only then can no other run change what is judged. */
  #judge(stage: AnyStage, open: OpenStage, first: boolean): ExitName | undefined {
    const findings = open.findings();
    const exit = exitOf(findings, this.#context);
    this.#judged.put(stage.id, findings);
    if (first || exit) this.#observe({ type: 'judged', stage: stage.id, findings });
    if (exit) return exit;
    const plan = plannedStage(stage, open);
    // The plan that a person sees is the one before the stage changed anything.
    if (this.#actor.writes === this.#writesBefore) this.#plans.set(stage.id, plan);
    if (first) this.#observe({ type: 'planned', stage: stage.id, plan });
    return undefined;
  }

  async #perform(stage: AnyStage, plan: Exclude<StagePlan, { skip: string }>): Promise<Next> {
    this.#recorder.note(plan.remember);
    const changes = this.#live && plan.actions.some(changesSomething);
    if (changes) {
      if (await this.#hold.take()) return 'judge';
      if (!stage.leavesNothing) await this.#recorder.begin();
      await this.#recorder.keepOnce(stage.id, plan.keep);
      await this.#recorder.stage({ id: stage.id, state: 'running', startedAt: this.#ports.clock.now().toISOString() });
    }
    const before = this.#actor.writes;
    for (const [index, action] of plan.actions.entries()) {
      if (action.afresh && this.#actor.writes > before) return this.#afresh(stage, action);
      this.#hold.mayGoOn();
      const outdated = await this.#actor.act(stage, action, index, plan.actions.length);
      if (outdated) return 'plan';
    }
    if (this.#live && plan.again === true) return 'judge';
    return changes && stage.converges === true ? 'plan' : 'done';
  }

  #afresh(stage: AnyStage, action: Action): Next {
    this.#observe({ type: 'note', stage: stage.id, level: 'info', text: `looks again before it goes on to: ${action.title}` });
    return 'judge';
  }

  async #ended(stage: AnyStage, startedAt: Date, skipped: string | undefined): Promise<undefined> {
    const endedAt = this.#ports.clock.now();
    const state = skipped === undefined ? 'done' : 'skipped';
    const record = { id: stage.id, state, startedAt: startedAt.toISOString(), endedAt: endedAt.toISOString() } as const;
    const because = skipped ?? this.#actor.leftText;
    await this.#recorder.stage(because === undefined ? record : { ...record, because });
    if (skipped === undefined) this.#observe({ type: 'stage-done', stage: stage.id, durationMs: endedAt.getTime() - startedAt.getTime() });
    else this.#observe({ type: 'stage-skipped', stage: stage.id, because: skipped });
  }

  async #end(exit: ExitName, stage: AnyStage | undefined, thrown: unknown): Promise<ChainOutcome> {
    if (!this.#hold.isLost && this.#live)
      await this.#recorder
        .end(exit, { stage, thrown, whole: this.#stages.some((one) => one.id === 'verify'), takeLock: () => this.#hold.take() })
        .catch((failure: unknown) => {
          const text = `the run record could not be updated: ${messageOf(failure)}`;
          this.#observe({ type: 'note', stage: stage?.id ?? '', level: 'warning', text });
        });
    const outcome: ChainOutcome = {
      exit,
      findings: this.#judged.findings,
      plans: [...this.#plans.values()],
      stages: this.#recorder.stages,
      writes: this.#actor.writes,
      suggestions: thrown instanceof Fault ? thrown.suggestions : [],
      ...(thrown === undefined ? {} : { message: messageOf(thrown) }),
      ...(stage ? { stoppedAt: stage.id } : {}),
      ...this.#recorder.run,
    };
    if (!this.#hold.isLost && this.#live) await this.#keep(outcome);
    return outcome;
  }

  /** A report that cannot be kept is a pity, and no reason for a run to end otherwise than it did. */
  async #keep(outcome: ChainOutcome): Promise<void> {
    if (this.#keepsake === undefined || outcome.runId === undefined) return;
    try {
      await this.#recorder.keepReport(await this.#keepsake(outcome));
    } catch (failure) {
      const text = `the report could not be kept beside the run record: ${messageOf(failure)}`;
      this.#observe({ type: 'note', stage: outcome.stoppedAt ?? '', level: 'warning', text });
    }
  }
}
