import { oneLook } from '../core/one-look.ts';
import type { Clock, Cluster } from '../core/ports.ts';

/** No look is shared for longer: what others do meanwhile must be seen. */
const LOOK_MS = 2_000;

interface Seen {
  readonly cluster: Cluster;
  readonly clock: Clock;
}

/**
 * The cluster as stages see it that follow one another with nothing done between them: what two of them ask for is read once.
 * Most of them begin with the same question, what is installed. Whatever this run does ends the look, and so does a short time.
 */
export class Looks<Ports extends Seen> {
  readonly #ports: Ports;
  #look: { readonly ports: Ports; readonly until: number } | undefined;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** For looking only: whoever acts does so on the ports themselves. */
  current(): Ports {
    const now = this.#ports.clock.now().getTime();
    if (this.#look && now <= this.#look.until) return this.#look.ports;
    const ports = { ...this.#ports, cluster: oneLook(this.#ports.cluster) };
    this.#look = { ports, until: now + LOOK_MS };
    return ports;
  }

  /** Whoever looks next sees the cluster as it is then. */
  end(): void {
    this.#look = undefined;
  }
}
