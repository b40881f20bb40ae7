import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import type { FaultPoint } from './fault-points.ts';

/** A real control plane behind a fault proxy on which the same work is done again and again, once for each fault. */
export interface SweepGround {
  /** The work without any fault: its requests. */
  readonly clean: readonly LoggedRequest[];
  /** The work with the fault on the way and one more try of whatever it struck. False if it was never reached. */
  sweep(point: FaultPoint): Promise<boolean>;
  stop(): Promise<void>;
}

export interface GroundOptions {
  /** A control plane and a proxy of its own end after so many minutes, whatever happens. */
  readonly maxMinutes: number;
}

/** What is swept, in words, and where. */
export interface GroundSweep {
  /** `faults while …` */
  readonly what: string;
  /** What holds whatever a fault strikes: `loses no label`. */
  readonly keeps: string;
  open(options: GroundOptions): Promise<SweepGround>;
}
