import type { KubeObject } from '../kernel/object.ts';
import { type EarlierAnswers, oneLook, oneLookAtState } from '../kernel/one-look.ts';
import type { Clock, Cluster, Sources } from '../kernel/ports.ts';

/** No look is shared for longer: what others do meanwhile must be seen. */
const LOOK_MS = 2_000;

/**
 * How long a dry-run answer holds for an unchanged object. Definitions and admission hardly change within it, and the server checks the
 * write itself; a user reads a plan for longer.
 */
const ANSWER_MS = 10_000;

interface Seen extends Pick<Sources, 'records' | 'journal'> {
  readonly cluster: Cluster;
  readonly clock: Clock;
}

/** The cluster as consecutive stages see it, read once. A short time ends a look, and so does anything the run does. */
export class Looks<Ports extends Seen> {
  readonly #ports: Ports;
  readonly #answers = new Map<string, { readonly answer: KubeObject; readonly until: number }>();
  #look: { readonly ports: Ports; readonly noted: () => void; readonly begun: number } | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** True while whoever looks sees what somebody has seen before; of unknown age, where the clock was set back, it is not shared. */
  get shared(): boolean {
    if (this.#look === undefined) return false;
    const age = this.#ports.clock.now().getTime() - this.#look.begun;
    return age >= 0 && age <= LOOK_MS;
  }

  /** For looking only: whoever acts does so on the ports themselves. */
  current(): Ports {
    if (this.#look && this.shared) return this.#look.ports;
    const { state, noted } = oneLookAtState(this.#ports);
    const ports = { ...this.#ports, ...state, cluster: oneLook(this.#ports.cluster, this.#earlier) };
    this.#look = { ports, noted, begun: this.#ports.clock.now().getTime() };
    return ports;
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
  }

  /** Whoever looks next sees the cluster as it is then. */
  refresh(): void {
    this.#look = undefined;
  }

  /** Something was done: nothing that was seen or asked before counts. */
  end(): void {
    this.refresh();
    this.#answers.clear();
  }
}
