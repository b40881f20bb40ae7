import { type Action, stepsLeftIn } from '../kernel/action.ts';
import { command } from '../kernel/command.ts';
import { changesSomething, onlyWritesFiles, typeOf } from '../kernel/effect-type.ts';
import { type ExitName, Fault, MovedOn, type Outdated } from '../kernel/fault.ts';
import type { AnyStage, OpenStage, StagePlan } from '../kernel/stage.ts';
import { AGAIN, text } from '../kernel/step.ts';
import type { ChainParts } from './act.ts';
import { Told } from './judged.ts';
import { exitOf, inChain, plannedStage } from './plan-chain.ts';

/** What a stage needs after a round: `judge` if the lock was just taken, `plan` if the cluster moved on or converges in rounds. */
type Next = 'judge' | 'plan' | 'done';

/** A stage is planned again this often without coming nearer to its end before the engine gives up and says why. */
const MAX_ROUNDS = 8;

/** How long an evaluation counts as fresh if nothing was written since: waiting for a rollout takes hours. */
const FRESH_MS = 10_000;

/** Between two looks at a result: what lags behind, lags by less. */
const SETTLE_MS = 2_000;

/** One stage of a chain: surveyed, evaluated, planned and performed, until nothing is left of its plan. */
export class StageRounds {
  readonly #stage: AnyStage;
  readonly #parts: ChainParts;
  /** Writes of the chain when the stage began. */
  readonly #writesBefore: number;
  #startedAt = new Date(0);
  /** The record says that the stage is at work. */
  #isStored = false;
  /** What the round sees was read for it alone. */
  #ownLook = false;
  /** Time that a look took which was made before the stage began. */
  #tookMs = 0;
  readonly #told = new Told();
  /** A whole plan was performed, and it asked for another look. */
  #again = false;
  /** What the action says that was performed last, if its precondition no longer held. */
  #outdated: Outdated | undefined;
  /** Actions that are performed once, with the writes of the chain until then. */
  readonly #once = new Map<string, number>();
  /** Steps of the last plan that wait for the user. */
  #manual = 0;

  constructor(stage: AnyStage, parts: ChainParts) {
    this.#stage = stage;
    this.#parts = parts;
    this.#writesBefore = parts.actor.writes;
  }

  /** Resolves to the exit that stops the chain, if one does. */
  async run(): Promise<ExitName | undefined> {
    const { ports, observe, recorder, hold, live, looks, more } = this.#parts;
    const stage = this.#stage;
    this.#startedAt = ports.clock.now();
    observe({ type: 'stage-started', stage: stage.id, title: stage.title });
    hold.mayGoOn();
    // A stage that shares a look is over at once if it has nothing to do: it is stored with what comes next.
    if (looks.shared) recorder.noteRunning(stage, this.#startedAt);
    else await this.#atWork();
    if (stage.judgesResult && !live) return this.#ended('a dry run has no result to check');
    if (live && more.changes && !stage.readOnly) await this.#take();
    let next: Next = 'judge';
    let fewest = Number.POSITIVE_INFINITY;
    for (let [round, vain] = [1, 0]; vain < MAX_ROUNDS; round += 1) {
      hold.mayGoOn();
      await recorder.kept.settled();
      this.#ownLook = false;
      const open = this.#lookedAt(round) ?? (await this.#open(round));
      // What a survey could not read because of Ctrl-C is no finding.
      hold.mayGoOn();
      const plan = this.#judgedPlan(open, next, round);
      if (typeof plan === 'string') return plan;
      if ('skip' in plan) return this.#ended(round === 1 ? plan.skip : undefined);
      // A plan with fewer actions than ever before is progress of the stage, however often it is planned.
      if (plan.actions.length >= fewest || round === 1) vain += 1;
      fewest = Math.min(fewest, plan.actions.length);
      next = await this.#perform(plan);
      if (next === 'done') return this.#ended(undefined);
    }
    throw noRest(stage, this.#outdated);
  }

  async #atWork(): Promise<void> {
    this.#isStored = true;
    await this.#parts.recorder.atWork(this.#stage, this.#startedAt);
  }

  /** What was just written may not be in every answer yet, and earlier stages read at other moments: only two looks make a result bad. */
  async #open(round: number): Promise<OpenStage> {
    const { ports, context, stages, observe, live, actor, hold, looks } = this.#parts;
    const stage = this.#stage;
    const look = () => {
      this.#ownLook = !looks.shared;
      return stage.open(looks.current(), inChain(context, stages, stage, !live, this.#again));
    };
    const first = await look();
    const isAlone = actor.writes === 0 && stages[0] === stage;
    if (round > 1 || !stage.judgesResult || isAlone || exitOf(first.findings(), context) === undefined) return first;
    observe({ type: 'note', stage: stage.id, level: 'info', text: 're-checks before it reports a problem' });
    await ports.clock.sleep(SETTLE_MS, hold.stop).catch(() => undefined);
    hold.mayGoOn();
    looks.end();
    return look();
  }

  /** True if the lock was taken just now and another run may have written until then, so that earlier reads do not count. */
  async #take(): Promise<boolean> {
    const { hold, looks } = this.#parts;
    const taken = await hold.take();
    if (taken === 'held' || (taken === 'undisturbed' && looks.shared)) return false;
    looks.refresh();
    return true;
  }

  #lookedAt(round: number): OpenStage | undefined {
    const { live, actor, more } = this.#parts;
    const looked = live && round === 1 && actor.writes === 0 ? more.looked?.get(this.#stage.id) : undefined;
    this.#tookMs = looked?.tookMs ?? this.#tookMs;
    return looked?.open;
  }

  /** The plan of a round, or the exit that its evaluation means. A round that is only planned again is evaluated where an action needs that. */
  #judgedPlan(open: OpenStage, next: Next, round: number): StagePlan | ExitName {
    const exit = next === 'judge' ? this.#judge(open, round === 1) : undefined;
    if (exit) return exit;
    const plan = open.plan();
    const isLate = next === 'plan' && !('skip' in plan) && plan.actions.some(wantsJudgement);
    return (isLate ? this.#judge(open, false) : undefined) ?? plan;
  }

  /** Once when the stage begins, and again when the lock is held: only then can no other run change what is evaluated. */
  #judge(open: OpenStage, first: boolean): ExitName | undefined {
    const { context, observe, judged, actor, plans } = this.#parts;
    const { id } = this.#stage;
    const findings = open.findings();
    const exit = exitOf(findings, context);
    judged.put(id, findings);
    if (first || exit) observe({ type: 'judged', stage: id, findings });
    if (exit) return exit;
    const plan = plannedStage(this.#stage, open);
    // The plan that the user sees is the one before the stage changed anything.
    if (actor.writes === this.#writesBefore) plans.set(id, plan);
    if (first) observe({ type: 'planned', stage: id, plan });
    return undefined;
  }

  async #perform(plan: Exclude<StagePlan, { skip: string }>): Promise<Next> {
    const { recorder, hold, live, looks, ports } = this.#parts;
    const { effects } = ports;
    const stage = this.#stage;
    recorder.remember(plan.remember);
    // Files alone begin no run: it is kept by whatever stage does. Nor does what is gone again make a stage a writer.
    if (live && plan.actions.every((action) => action.leavesNothing || onlyWritesFiles(effects, action)))
      recorder.keepOnceBegun(stage.id, plan);
    if (!this.#isStored && plan.actions.length > 0) await this.#atWork();
    const changes = live && plan.actions.some((action) => changesSomething(effects, action));
    if (changes && (await this.#take())) return 'judge';
    this.#parts.more.within?.(stage.id, plan);
    const isAged = this.#ageing();
    this.#told.beginRound();
    this.#manual = stepsLeftIn(plan.actions);
    let noted: 'acts' | 'writes' | undefined;
    for (const action of plan.actions.filter((one) => !this.#isLeft(one))) {
      if (isAged(action)) return this.#afresh(action);
      hold.mayGoOn();
      // Not before: what a look right before the first change stops has written nothing.
      const now = changesSomething(effects, action) && !action.leavesNothing ? 'writes' : 'acts';
      const isFile = onlyWritesFiles(effects, action);
      if (changes && !isFile && noted !== 'writes' && noted !== now) {
        await this.#begin(plan, now === 'writes');
        noted = now;
      }
      if (!isFile) looks.end();
      if (await this.#isOutdated(action)) return afterOutdated(action);
    }
    return this.#after(plan, changes);
  }

  /** Performs it, unless its precondition no longer holds. */
  async #isOutdated(action: Action): Promise<boolean> {
    const { actor } = this.#parts;
    const { outdated, ...told } = await actor.act(this.#stage, action);
    this.#told.add(told);
    this.#outdated = outdated;
    if (action.once && !outdated) this.#once.set(action.id, actor.writes);
    return outdated !== undefined;
  }

  /** What it leaves to watch the chain is there already, or it was performed and nothing was written since. */
  #isLeft({ effect, id }: Action): boolean {
    const { actor, hold, ports } = this.#parts;
    if (this.#once.get(id) === actor.writes) return true;
    const { leaves } = typeOf(ports.effects, effect);
    return leaves !== undefined && hold.watcher(leaves) !== undefined;
  }

  /** Makes the record durable before the first action, with the writer and what the cluster then no longer shows. */
  async #begin(plan: Exclude<StagePlan, { skip: string }>, writes: boolean): Promise<void> {
    const { recorder } = this.#parts;
    const stage = this.#stage;
    if (stage.leavesNothing) recorder.noteRunning(stage, this.#startedAt);
    else await recorder.begin(stage, this.#startedAt, writes ? plan : undefined);
  }

  #after({ actions, again }: Exclude<StagePlan, { skip: string }>, changes: boolean): Next {
    const { live } = this.#parts;
    if (live && again === true && !this.#told.leavesTheSame(actions, changes)) {
      this.#again = true;
      return 'judge';
    }
    return changes && this.#stage.converges === true ? 'plan' : 'done';
  }

  /**
   * Whether this round's evaluation is too old for an action. Actions that want their own read, or one after writes, go by what the round
   * just read; a wait alone can make an evaluation old.
   */
  #ageing(): (action: Action) => boolean {
    const { ports, actor, live } = this.#parts;
    const now = () => ports.clock.now().getTime();
    const [before, since] = [actor.writes, now()];
    // A dry run changes nothing, so it may take its time: a new plan would be the same.
    const freshMs = live ? FRESH_MS : Number.POSITIVE_INFINITY;
    return ({ afresh, judgedWithinMs = afresh === true ? freshMs : Number.POSITIVE_INFINITY }) =>
      now() - since > judgedWithinMs || (afresh === true && (actor.writes > before || (live && !this.#ownLook)));
  }

  #afresh(action: Action): Next {
    const text = `re-checks the cluster before: ${action.title}`;
    this.#parts.observe({ type: 'note', stage: this.#stage.id, level: 'info', text });
    this.#parts.looks.refresh();
    return 'judge';
  }

  #ended(skipped: string | undefined): undefined {
    const { ports, recorder, observe, judged, live } = this.#parts;
    const { id } = this.#stage;
    if (live && this.#told.leftNothing) judged.settled(this.#stage);
    const endedAt = ports.clock.now();
    const state = skipped === undefined ? 'done' : 'skipped';
    const startedAt = this.#startedAt;
    const record = { state, startedAt: startedAt.toISOString(), endedAt: endedAt.toISOString() } as const;
    const because = skipped ?? this.#told.text;
    const manual = this.#manual > 0 ? { manual: this.#manual } : {};
    recorder.noteStage(this.#stage, { ...record, ...(because === undefined ? {} : { because }), ...manual });
    const durationMs = endedAt.getTime() - startedAt.getTime() + this.#tookMs;
    if (skipped === undefined) observe({ type: 'stage-done', stage: id, durationMs });
    else observe({ type: 'stage-skipped', stage: id, because: skipped });
  }
}

/** It needs an evaluation from its own round, or a recent one. */
function wantsJudgement({ afresh, judgedWithinMs }: Action): boolean {
  return afresh === true || judgedWithinMs !== undefined;
}

/** If the evaluation may not be old, it may not be older than the change that the action met. */
function afterOutdated({ judgedWithinMs }: Action): Next {
  return judgedWithinMs === undefined ? 'plan' : 'judge';
}

/** A stage was planned again too often. `outdated`: what ended its last round, if not the end of its actions. */
function noRest({ id }: Pick<AnyStage, 'id'>, outdated: Outdated | undefined): Fault {
  const because = outdated?.message ?? 'something else keeps changing the same objects';
  const isOthers = outdated === undefined || outdated instanceof MovedOn;
  return new Fault('failed', `${id} keeps changing: ${because}`, isOthers ? OTHER_WRITER : NOT_SO);
}

const OTHER_WRITER = [
  text`find the other writer with: ${command`kubectl get … --show-managed-fields -o yaml`}`,
  text`pause it, then ${AGAIN}`,
];
const NOT_SO = [text`fix the cause above, then ${AGAIN}`];
