import type { KubeObject } from '../kernel/object.ts';
import { type EarlierAnswers, oneLook, oneLookAtState } from '../kernel/one-look.ts';
import type { Clock, Cluster, Sources } from '../kernel/ports.ts';
import type { OpenStage } from '../kernel/stage.ts';

/** No look is shared for longer: what others do meanwhile must be seen. */
const LOOK_MS = 2_000;

/**
 * How long a dry-run answer holds for an unchanged object. Definitions and admission hardly change within it, and the server checks the
 * write itself; a user reads a plan for longer.
 */
const ANSWER_MS = 10_000;

/** Where one survey takes longer, those of the stages after it would not end while the look counts: each waits for its turn. */
const QUICK_MS = 1_000;

interface Seen extends Pick<Sources, 'records' | 'ownerJournal'> {
  readonly cluster: Cluster;
  readonly clock: Clock;
}

/** The cluster as consecutive stages see it, read once. A short time ends a look, and so does anything the run does. */
export class Looks<Ports extends Seen> {
  readonly #ports: Ports;
  readonly #answers = new Map<string, { readonly answer: KubeObject; readonly until: number }>();
  #look: { readonly ports: Ports; readonly noted: () => void; readonly until: number } | undefined;
  /** Surveys of this look that were begun before their turn, by stage. */
  readonly #begun = new Map<string, Promise<OpenStage>>();
  readonly #underWay = new Set<Promise<unknown>>();
  #slowestMs = 0;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** True while whoever looks sees what somebody has seen before. */
  get shared(): boolean {
    return this.#look !== undefined && this.#ports.clock.now().getTime() <= this.#look.until;
  }

  /** For looking only: whoever acts does so on the ports themselves. */
  current(): Ports {
    if (this.#look && this.shared) return this.#look.ports;
    const { state, noted } = oneLookAtState(this.#ports);
    const ports = { ...this.#ports, ...state, cluster: oneLook(this.#ports.cluster, this.#earlier) };
    this.#begun.clear();
    this.#look = { ports, noted, until: this.#ports.clock.now().getTime() + LOOK_MS };
    return ports;
  }

  /** The survey of a stage in this look, begun now unless it was before. Another round of the stage surveys again. */
  async survey(stage: string, open: (ports: Ports) => Promise<OpenStage>): Promise<OpenStage> {
    const ports = this.current();
    const before = this.#ports.clock.now().getTime();
    const begun = this.#begun.get(stage);
    this.#begun.delete(stage);
    const opened = await (begun ?? open(ports));
    this.#slowestMs = Math.max(this.#slowestMs, this.#ports.clock.now().getTime() - before);
    return opened;
  }

  /** Begins the survey of a later stage, which counts as long as the look does; what it meets is told when its turn comes. */
  begin(stage: string, open: (ports: Ports) => Promise<OpenStage>): void {
    if (!this.shared || this.#slowestMs > QUICK_MS || this.#begun.has(stage)) return;
    const opening = open(this.current());
    this.#begun.set(stage, opening);
    const ended: Promise<unknown> = opening.catch(() => undefined).then(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
  }

  /** Resolves when nothing reads any more for a stage whose turn has not come. */
  async quiet(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  get #earlier(): EarlierAnswers {
    const now = () => this.#ports.clock.now().getTime();
    return {
      find: (key) => {
        const known = this.#answers.get(key);
        return known && now() <= known.until ? known.answer : undefined;
      },
      // The first answer keeps its age: using it again does not renew it.
      keep: (key, answer) => {
        if (this.#answers.get(key)?.answer !== answer) this.#answers.set(key, { answer, until: now() + ANSWER_MS });
      },
    };
  }

  /** The run has noted something: what was seen of its record is no longer all. */
  noted(): void {
    this.#look?.noted();
    this.#begun.clear();
  }

  /** Whoever looks next sees the cluster as it is then. */
  refresh(): void {
    this.#look = undefined;
    this.#begun.clear();
  }

  /** Something was done: nothing that was seen or asked before counts. */
  end(): void {
    this.refresh();
    this.#answers.clear();
  }
}
