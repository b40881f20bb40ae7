import type { Action } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import { type ExitName, Fault, messageOf } from '../core/fault.ts';
import { continues, RUN_RECORD_VERSION, type RunRecord, runIdOf, type StageRecord } from '../core/run-record.ts';
import type { AnyStage, Remember, StagePlan } from '../core/stage.ts';
import type { EnginePorts } from './engine-ports.ts';

/** Reports are small, but a run that is continued every minute for a week must not fill the cluster. */
const REPORTS_PER_RUN = 10;

/** Of a run whose first write was by a stage that does not look at the installation. */
const UNKNOWN_PATH = 'unknown';

export interface Ending {
  readonly stage: Pick<AnyStage, 'id'> | undefined;
  readonly thrown: unknown;
  readonly whole: boolean;
  /** Rejects if another run holds the lock. */
  readonly takeLock: () => Promise<unknown>;
}

/**
 * Keeps the run record in the cluster. Nothing is written for a run that changes nothing:
 * the record is made at the first write, and saved before every removal.
 */
export class Recorder {
  readonly #ports: EnginePorts;
  readonly #context: Context;
  #record: RunRecord | undefined;
  #loaded = false;
  #noted: Remember = {};
  #stages: StageRecord[] = [];

  constructor(ports: EnginePorts, context: Context) {
    this.#ports = ports;
    this.#context = context;
  }

  get stages(): readonly StageRecord[] {
    return this.#stages;
  }

  /** The run that this chain began or continues; nothing for a chain that wrote nothing. */
  get run(): { readonly runId?: string; readonly source?: string } {
    if (!this.#record) return {};
    const { runId, source } = this.#record;
    return source === undefined ? { runId } : { runId, source };
  }

  /** What a stage wants remembered once this run writes; nothing is stored yet. */
  note(remember: Remember | undefined): void {
    this.#noted = { ...this.#noted, ...remember, digests: { ...this.#noted.digests, ...remember?.digests } };
  }

  /** Makes the record durable before the first write of a stage; a record of an unfinished run to the same target is continued. */
  async begin(): Promise<void> {
    const before = this.#record ?? (await this.#previous());
    const base = before ?? this.#fresh();
    // What was found before the first write stays, and what was not known then is never known later: the live cluster no longer tells it.
    const { source, ...remember } = this.#noted;
    const path = base.path === UNKNOWN_PATH ? (remember.path ?? base.path) : base.path;
    const merged = before ? { ...remember, ...definedOf(base), path } : { ...base, ...remember, source };
    const accepted = [...new Set([...base.accepted, ...this.#accepted()])];
    const digests = { ...remember.digests, ...base.digests };
    const { savedPlan: plan = base.plan, flags = base.flags } = this.#context;
    await this.#save({
      ...base,
      ...merged,
      ...definedOf({ plan, flags }),
      digests,
      accepted,
      outcome: undefined,
      stages: this.#merged(base),
    });
  }

  /** A stage begins, so that `status` tells it from any machine; a run that has written nothing yet has no record. */
  async atWork(id: string, since: Date): Promise<void> {
    if (this.#record) await this.stage({ id, state: 'running', startedAt: since.toISOString() });
  }

  async stage(record: StageRecord): Promise<void> {
    this.#stages = [...this.#stages.filter((one) => one.id !== record.id), record];
    if (this.#record) await this.#save({ ...this.#record, stages: this.#merged(this.#record) });
  }

  /** Stores what a stage will not be able to tell once it has written; the first of a run stays, and one that is `anew` comes after it. */
  async keepOnce(stage: string, item: Extract<StagePlan, { actions: unknown }>['keep']): Promise<void> {
    if (!item || !this.#record) return;
    const prefix = `${this.#record.runId}/${stage}/${item.id}#`;
    if (item.anew !== true && this.#record.kept.some((id) => id.startsWith(prefix))) return;
    await this.#store(`${prefix}${this.#record.kept.length + 1}`, item.content, this.#record);
  }

  /** Stores what is about to be removed; durable when it resolves. Nothing that is kept is ever written over. */
  async keep(stage: string, action: Action): Promise<void> {
    if (action.keep === undefined || !this.#record) return;
    const id = `${this.#record.runId}/${stage}/${action.id}#${this.#record.kept.length + 1}`;
    await this.#store(id, action.keep, this.#record);
  }

  async #store(id: string, content: unknown, record: RunRecord): Promise<void> {
    await this.#ports.records.keep(id, content);
    await this.#save({ ...record, kept: [...record.kept, id] });
  }

  /** Stores a report of this part of the run. A run of very many parts keeps the first ones and the last one. */
  async keepReport(report: unknown): Promise<void> {
    if (!this.#record) return;
    const folder = `${this.#record.runId}/report/`;
    const kept = await this.#ports.records.keptWith(folder);
    const last = kept.length >= REPORTS_PER_RUN ? kept.at(-1) : undefined;
    await this.#ports.records.keep(last?.id ?? `${folder}${this.#context.startedAt.toISOString()}`, report);
  }

  /** sha256 of what was fetched while acting, by file name; the last one fetched counts. */
  async learn(digests: Readonly<Record<string, string>>): Promise<void> {
    if (this.#record) await this.#save({ ...this.#record, digests: { ...this.#record.digests, ...digests } });
  }

  /** The run is over; `stage` is the one that did not end, `whole` says that the chain had its proof in it. */
  async end(exit: ExitName, { stage, thrown, whole, takeLock }: Ending): Promise<void> {
    if (stage && this.#record) {
      const now = this.#now();
      const because = thrown === undefined ? 'checks failed' : messageOf(thrown);
      await this.stage({ id: stage.id, state: 'failed', startedAt: now, endedAt: now, because });
    }
    const outcome = exit === 'done' || exit === 'interrupted' || exit === 'stopped' ? exit : 'failed';
    const record = this.#record ?? (whole && outcome === 'done' ? await this.#unfinished(takeLock) : undefined);
    if (!record) return;
    const finishedAt = whole && outcome === 'done' ? { finishedAt: this.#now() } : {};
    await this.#save({ ...record, outcome, ...finishedAt, stages: this.#merged(record) });
  }

  async #previous(): Promise<RunRecord | undefined> {
    if (this.#loaded) return undefined;
    this.#loaded = true;
    const stored = await this.#ports.records.load();
    if (continues(stored, this.#context)) return stored;
    if (stored) await this.#setAside(stored);
    return undefined;
  }

  /**
   * A run whose last part had nothing to write any more still ends the record of what was written before. That is a write
   * like any other: under the lock, and on what the record says once the lock is held.
   */
  async #unfinished(takeLock: Ending['takeLock']): Promise<RunRecord | undefined> {
    if (!continues(await this.#ports.records.load(), this.#context)) return undefined;
    await takeLock();
    const stored = await this.#ports.records.load();
    return continues(stored, this.#context) ? stored : undefined;
  }

  /** A record that this run does not continue is kept beside the new one; of an unfinished run only on a person's word (NS-012). */
  async #setAside(stored: RunRecord): Promise<void> {
    const { options, clusterUid } = this.#context;
    const isOpen = stored.finishedAt === undefined && stored.clusterUid === clusterUid;
    if (isOpen && !options.accept.some((one) => one.check === 'NS-012')) {
      throw new Fault(
        'blocked',
        `a run to ${stored.target} begun at ${stored.startedAt} is unfinished, and this one goes to ${options.release}`,
        [`finish it first: kubectl netsvc-upgrade run --release ${stored.target}`, 'or leave it behind: --accept NS-012'],
      );
    }
    await this.#ports.records.keep(`${stored.runId}/record`, stored);
  }

  #accepted(): readonly string[] {
    return this.#context.options.accept.map((one) => (one.subject === undefined ? one.check : `${one.check}=${one.subject}`));
  }

  #fresh(): RunRecord {
    const { options, profile, clusterUid, startedAt } = this.#context;
    return {
      version: RUN_RECORD_VERSION,
      runId: runIdOf(startedAt, clusterUid),
      clusterUid,
      profile: profile.name,
      target: options.release,
      path: options.path ?? UNKNOWN_PATH,
      digests: {},
      startedAt: startedAt.toISOString(),
      startedBy: this.#ports.operator,
      toolVersion: this.#ports.toolVersion,
      accepted: this.#accepted(),
      stages: [],
      kept: [],
    };
  }

  #merged(base: RunRecord): readonly StageRecord[] {
    const mine = new Set(this.#stages.map((one) => one.id));
    return [...base.stages.filter((one) => !mine.has(one.id)), ...this.#stages];
  }

  async #save(record: RunRecord): Promise<void> {
    await this.#ports.records.save(record);
    this.#record = record;
  }

  #now(): string {
    return this.#ports.clock.now().toISOString();
  }
}

function definedOf<T extends object>(record: T): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as Partial<T>;
}
