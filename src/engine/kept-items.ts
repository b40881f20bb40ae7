import { type KeptLine, type KeptOutcome, numberOf, type Records, type RunRecord } from '../kernel/run-record.ts';

type Run = Pick<RunRecord, 'runId' | 'kept'>;

/** Lets a write come to its end. */
type Write = (write: (records: Records) => Promise<void>) => Promise<void>;

/** What a run keeps beside its record before it removes or changes something, each under a number. Nothing kept is ever overwritten. */
export class KeptItems {
  readonly #records: Pick<Records, 'keptWith'>;
  readonly #write: Write;
  /** Of the run's latest item; undefined until its earlier parts have been read. */
  #number: number | undefined = 0;
  /** What became of removals, to be stored with what comes next. */
  #owed: KeptLine[] = [];

  constructor(records: Pick<Records, 'keptWith'>, write: Write) {
    this.#records = records;
    this.#write = write;
  }

  /** The run began in an earlier command. */
  goOn(): void {
    this.#number = undefined;
  }

  /** Durable in the log, with what is owed to it, when it resolves to its id. */
  async add(run: Run, name: string, content: unknown): Promise<string> {
    const id = await this.#nextId(run, name);
    await this.#append({ id, content });
    return id;
  }

  /** The same of one that is read by its name alone. */
  async addOne(run: Run, name: string, content: unknown): Promise<string> {
    const id = await this.#nextId(run, name);
    await this.#write((records) => records.keep(id, content));
    return id;
  }

  /** The outcome of what was kept: stored with the next item, or before it is read. */
  settle(id: string | undefined, outcome: KeptOutcome | undefined): void {
    if (id !== undefined && outcome !== undefined) this.#owed.push({ id, outcome });
  }

  /** Stores pending outcomes: a stage that is surveyed again uses them. */
  async settled(): Promise<void> {
    if (this.#owed.length > 0) await this.#append();
  }

  async #append(...more: readonly KeptLine[]): Promise<void> {
    await this.#write((records) => records.append([...this.#owed, ...more]));
    this.#owed = [];
  }

  async #nextId({ runId, kept }: Run, name: string): Promise<string> {
    this.#number ??= Math.max(kept.length, ...(await this.#records.keptWith(`${runId}/`)).map(numberOf));
    this.#number += 1;
    return `${runId}/${name}#${this.#number}`;
  }
}
