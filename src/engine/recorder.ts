import type { Action } from '../kernel/action.ts';
import type { Context } from '../kernel/context.ts';
import { agoText } from '../kernel/counted.ts';
import type { EnginePorts } from '../kernel/effect-type.ts';
import { type ExitName, Fault, HeldFault, MovedOn, messageOf, type Outdated } from '../kernel/fault.ts';
import { continueCommand, intentWords } from '../kernel/intent.ts';
import {
  continues,
  type RecordNotes,
  type RunRecord,
  resumedBackwards,
  type StageRecord,
  stopsOnPurpose,
  takenOver,
} from '../kernel/run-record.ts';
import { begunRecord, endedRecord, owedBy, owedOther, shownBy, withStages, withWriter } from '../kernel/run-record-steps.ts';
import type { AnyStage, Remember, StageKeep, StagePlan } from '../kernel/stage.ts';
import { text } from '../kernel/step.ts';
import type { NoReturnPoint } from '../kernel/undo.ts';
import type { Announce, ChainOutcome, RunMore } from './chain-outcome.ts';
import { KeptItems } from './kept-items.ts';
import { RunSteps } from './run-steps.ts';

type Keeps = Pick<Extract<StagePlan, { actions: unknown }>, 'keep' | 'keepForLater'>;

type Named = Pick<AnyStage, 'id' | 'isUndo'>;

export interface Ending {
  readonly stage: Named | undefined;
  readonly thrown: unknown;
  readonly whole: boolean;
  /** Every stage does. */
  readonly looksOnly: boolean;
  /** Rejects if another run holds the lock. */
  readonly takeLock: () => Promise<unknown>;
}

/** Keeps the run record: created at the first write, so a run that changes nothing writes nothing, and saved before removals. */
export class Recorder {
  readonly #ports: EnginePorts;
  readonly #context: Context;
  readonly #announce: Announce | undefined;
  readonly #leavesRun: string | undefined;
  readonly steps: RunSteps;
  readonly kept: KeptItems;
  /** Ends when the beginning of the run was told. */
  #announced: Promise<void> | undefined;
  readonly #noted: () => void;
  /** True if the run began in an earlier command. */
  isContinued = false;
  #record: RunRecord | undefined;
  #loaded = false;
  /** What the run had written before this chain continued it. */
  #earlier: RunRecord['wrote'] | undefined;
  /** Notes of an earlier run about what still exists: a new record must keep them. */
  #notes: RecordNotes = {};
  /** Of the upgrade that a new record resumes. */
  #taken: Partial<ReturnType<typeof takenOver>> = {};
  #remembered: Remember = {};
  #stages: StageRecord[] = [];
  /** What stages that write nothing to the cluster want kept. */
  #waiting: (readonly [stage: string, item: StageKeep])[] = [];

  /** `noted` is called after each write to what is kept of runs. */
  constructor(
    ports: EnginePorts,
    context: Context,
    noted: () => void,
    { announce, leavesRun, steps = { places: [] } }: Pick<RunMore, 'announce' | 'leavesRun' | 'steps'> = {},
  ) {
    this.#ports = ports;
    this.#context = context;
    this.#noted = noted;
    this.#announce = announce;
    this.#leavesRun = leavesRun;
    this.steps = new RunSteps(steps);
    this.kept = new KeptItems(ports.records, (write) => this.#finish(({ records }) => write(records)));
  }

  get stages(): readonly StageRecord[] {
    return this.#stages;
  }

  /** The run that this chain began or continues; nothing for a chain that wrote nothing. */
  get run(): Pick<ChainOutcome, 'runId' | 'source' | 'record' | 'earlier'> {
    const record = this.#record;
    if (!record) return {};
    const {
      runId,
      intent: { from: source },
    } = record;
    const earlier = this.#earlier;
    return { runId, record, ...(source === undefined ? {} : { source }), ...(earlier ? { earlier } : {}) };
  }

  /** Durable before the first write that cannot be undone. */
  async passes(point: NoReturnPoint): Promise<void> {
    if (!this.#record || this.#record.noReturn) return;
    await this.#save({ ...this.#record, noReturn: { point, at: this.#now() } });
  }

  /** The run is told to be over, as its record says. */
  async announceEnd(outcome: ChainOutcome): Promise<void> {
    await this.#announced;
    if (this.#record) await this.#announce?.ended(this.#record, outcome);
  }

  /** What a stage wants remembered once this run writes; nothing is stored yet. */
  remember(more: Remember | undefined): void {
    this.#remembered = { ...this.#remembered, ...more, digests: { ...this.#remembered.digests, ...more?.digests } };
  }

  /** Stored once this run writes; nothing is stored yet. */
  keepOnceBegun(stage: string, keeps: Keeps): void {
    for (const item of itemsOf(keeps)) this.#waiting.push([stage, item]);
  }

  /**
   * Makes the record durable before a stage acts and first writes; an unfinished run to the same target is continued. `keeps`: what the
   * cluster no longer shows once the stage has written. The record names the writer only together with that: a rollback relies on both.
   */
  async begin(stage: Named, since: Date, keeps?: Keeps): Promise<void> {
    const { id } = stage;
    this.noteRunning(stage, since);
    const before = this.#record ?? (await this.#previous());
    const { operator, toolVersion } = this.#ports;
    const own = begunRecord(before, this.#remembered, { context: this.#context, operator, toolVersion });
    const begun = before ? own : { ...own, ...this.#taken };
    const items = keeps ? itemsOf(keeps).filter((item) => this.#isToKeep(begun, id, item)) : [];
    const staged = withStages(keeps && items.length === 0 ? withWriter(begun, id) : begun, this.#stages);
    const noted = before ? staged : { ...staged, ...this.#notes };
    const next = { ...noted, ...this.steps.of(id) };
    const isFirst = this.#record === undefined;
    // A further round of the same stage has nothing to add.
    if (isFirst || JSON.stringify(next) !== JSON.stringify(this.#record)) await this.#save(next);
    const withItems = await this.#keeping(next, [...this.#waiting.splice(0), ...items.map((item) => [id, item] as const)]);
    if (withItems !== next) await this.#save(items.length > 0 ? withWriter(withItems, id) : withItems);
    // Not waited for: the first write need not be later for it.
    if (isFirst) this.#announced = this.#finish(async () => this.#announce?.begun(next, id, before !== undefined)).catch(() => undefined);
  }

  /** A stage begins, so `status` shows it on any machine; a run that has written nothing has no record yet. */
  async atWork(stage: Named, since: Date): Promise<void> {
    this.noteRunning(stage, since);
    if (!this.#record) return;
    await this.kept.settled();
    await this.#save({ ...withStages(this.#record, this.#stages), ...this.steps.of(stage.id) });
  }

  /** Something begins that takes so long, or begins again: `status` tells how far it is. */
  async watches({ id }: Named, { watchMs: ms }: Action): Promise<void> {
    if (ms === undefined || !this.#record) return;
    const watch = { since: this.#now(), ms, by: this.#ports.lock.identity };
    this.#stages = this.#stages.map((one) => (one.id === id ? { ...one, watch } : one));
    await this.kept.settled();
    await this.#save(withStages(this.#record, this.#stages));
  }

  noteRunning(stage: Named, since: Date): void {
    // A stage is noted again when it first writes: what it has watched until then is not forgotten.
    const { watch } = this.#stages.find(({ id }) => id === stage.id) ?? {};
    this.noteStage(stage, { state: 'running', startedAt: since.toISOString(), ...(watch ? { watch } : {}) });
  }

  /** Stored with what comes right after it: the next stage begins, or the run ends. */
  noteStage({ id, isUndo }: Named, record: Omit<StageRecord, 'id' | 'undo'>): void {
    const row = { id, ...record, ...(isUndo ? { undo: true as const } : {}) };
    this.#stages = [...this.#stages.filter((one) => one.id !== id), row];
  }

  /** What a stage keeps once: the first of a run stays, and `anew` adds to it. */
  #isToKeep({ runId, kept }: RunRecord, stage: string, item: StageKeep): boolean {
    return item.anew === true || !kept.some((id) => id.startsWith(`${runId}/${stage}/${item.id}#`));
  }

  /** The record with what is now kept beside it. */
  async #keeping(record: RunRecord, items: readonly (readonly [stage: string, item: StageKeep])[]): Promise<RunRecord> {
    let now = record;
    for (const [stage, item] of items) {
      if (!this.#isToKeep(now, stage, item)) continue;
      const id = await this.kept.addOne(now, `${stage}/${item.id}`, item.content);
      now = { ...now, kept: [...now.kept, id] };
    }
    return now;
  }

  /** Stores what is about to be removed; durable when it resolves to its id. */
  async keep(stage: string, action: Action): Promise<string | undefined> {
    if (action.keep === undefined || !this.#record) return undefined;
    return this.kept.add(this.#record, `${stage}/${action.id}`, action.keep);
  }

  /** sha256 of what was fetched while acting, by file name; the last one fetched counts. */
  async learn(digests: Readonly<Record<string, string>>): Promise<void> {
    if (this.#record) await this.#save({ ...this.#record, digests: { ...this.#record.digests, ...digests } });
  }

  /** Stores at once what an action reports of other state in the cluster; undefined: it is gone. */
  async note(notes: RecordNotes): Promise<void> {
    if (!this.#record) return;
    const next = { ...this.#record, ...notes };
    if (JSON.stringify(next.stripped) !== JSON.stringify(this.#record.stripped)) await this.#save(next);
  }

  /** Stored at once: the stage is planned again, and may come to its end. */
  async owes(thrown: Outdated): Promise<void> {
    if (this.#record && thrown instanceof MovedOn && thrown.owed.length > 0)
      await this.#save({ ...this.#record, ...owedBy(this.#record, thrown) });
  }

  /** The run is over; `stage` is the one that did not end, `whole` says that the chain included its proof. */
  async end(exit: ExitName, { stage, thrown, whole, looksOnly, takeLock }: Ending): Promise<void> {
    const state = exit === 'interrupted' ? exit : thrown instanceof HeldFault ? 'held' : 'failed';
    if (stage) {
      const now = this.#now();
      const because = thrown === undefined ? 'checks failed' : messageOf(thrown);
      const { startedAt = now } = this.#stages.find(({ id }) => id === stage.id) ?? {};
      this.noteStage(stage, { state, startedAt, endedAt: now, because, ...shownBy(thrown) });
    }
    const isOver = whole && exit === 'done';
    // A look at what is held writes nothing, and may find that it has failed since, or runs now.
    const isVerdict = !looksOnly && thrown instanceof Fault && (exit === 'stopped' || exit === 'timeout');
    const isNews = ({ stages }: RunRecord) =>
      isOver || stages.some(({ id, state: was }) => id === stage?.id && (was === 'held') !== (state === 'held'));
    const record = this.#record ?? (isOver || isVerdict ? await this.#unfinished(takeLock, isNews) : undefined);
    // What only looks does not end a run that has stopped on purpose: what that holds would be released by nobody.
    if (!record || (looksOnly && stopsOnPurpose(record))) return;
    await this.kept.settled();
    const ended = { ...endedRecord(record, exit, isOver ? this.#now() : undefined), ...this.steps.endedAt(record) };
    await this.#save({ ...withStages(ended, this.#stages), ...owedBy(record, thrown) });
  }

  async #previous(): Promise<RunRecord | undefined> {
    if (this.#loaded) return undefined;
    this.#loaded = true;
    const stored = await this.#ports.records.load();
    const resumed = resumedBackwards(stored, this.#context);
    if (continues(stored, this.#context)) {
      this.kept.goOn();
      this.isContinued = true;
      this.#earlier = stored.wrote;
      return stored;
    }
    if (!stored) return undefined;
    await this.#setAside(stored);
    // Its agents may be of any of the two releases by now: where the upgrade came from, only the records know.
    if (resumed) this.#taken = takenOver(resumed);
    if (resumed) this.remember({ source: resumed.from, ...(resumed.oldest === undefined ? {} : { oldest: resumed.oldest }) });
    const { clusterUid, stripped, moved }: RunRecord = stored;
    if (clusterUid === this.#context.clusterUid)
      this.#notes = { ...(stripped ? { stripped } : {}), ...(moved ? { moved } : {}), ...owedOther(stored) };
    return undefined;
  }

  /** A resumed run with nothing left to write ends the earlier record, or corrects it, under the lock and as read under it. */
  async #unfinished(takeLock: Ending['takeLock'], isNews: (stored: RunRecord) => boolean): Promise<RunRecord | undefined> {
    const found = await this.#ports.records.load();
    if (!continues(found, this.#context) || !isNews(found)) return undefined;
    await takeLock();
    const stored = await this.#ports.records.load();
    this.isContinued = continues(stored, this.#context);
    return this.isContinued ? stored : undefined;
  }

  /** A record that this run does not continue is kept beside the new one; of an unfinished run only on the user's word. */
  async #setAside(stored: RunRecord): Promise<void> {
    const { goal, options, clusterUid } = this.#context;
    // Behind the upgrade lies what was performed alone since.
    const isTakenBack = stored.intent.kind === 'upgrade' && goal.takesBack?.to === stored.intent.to;
    const isOpen = stored.finishedAt === undefined && stored.clusterUid === clusterUid && !isTakenBack;
    const word = this.#leavesRun;
    const goesForward = resumedBackwards(stored, this.#context) !== undefined;
    if (isOpen && !options.accept.some((one) => one.check === word)) {
      throw new Fault(
        'blocked',
        `${intentWords(stored.intent).run} to ${stored.intent.to}, begun ${agoText(stored.startedAt, this.#ports.clock.now())}, is unfinished, and this one goes to ${goal.release}`,
        [
          text`finish it first: ${continueCommand(stored.intent)}`,
          ...(word === undefined
            ? []
            : [`or ${goesForward ? 'go forward again, with the changes that the upgrade carried' : 'leave it behind'}: --accept ${word}`]),
        ],
      );
    }
    await this.#finish(({ records }) => records.append([{ id: `${stored.runId}/record`, content: stored }]));
  }

  async #save(record: RunRecord): Promise<void> {
    await this.#finish(({ records }) => records.save(record));
    this.#record = record;
  }

  /** A first Ctrl-C does not cut a record off. */
  #finish(write: (ports: EnginePorts) => Promise<void>): Promise<void> {
    return this.#ports.interruption.finish(() => write(this.#ports)).finally(this.#noted);
  }

  #now(): string {
    return this.#ports.clock.now().toISOString();
  }
}

const itemsOf = ({ keep, keepForLater }: Keeps): readonly StageKeep[] => [keep ?? [], keepForLater ?? []].flat();
