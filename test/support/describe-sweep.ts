import assert from 'node:assert/strict';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import { chooseFaultPoints, everyFaultPoint, type FaultPoint, fromEnd, pointText, STRATA, type Stratum } from './fault-points.ts';

/** A sweep's size and chance. */
interface SweepSize {
  readonly points: number;
  readonly seed: number;
  /** Points beside these, which may count from the end of the run. */
  readonly and?: readonly FaultPoint[];
  /** The only faults; all of them unless said. */
  readonly strata?: readonly Stratum[];
}

/**
 * Describes a sweep of faults over one ground. Which points are chosen is known once a clean run has counted its requests, so tests bear
 * their number, and say the point once they run.
 */
export function describeGroundSweep({ points, seed, and = [], strata }: SweepSize, { what, keeps, open }: GroundSweep): void {
  const count = points + and.length;
  describe(`faults while ${what}, ${count} fault points, SEED=${seed}`, function () {
    this.timeout(LIMIT_MS);
    let ground: SweepGround;
    let chosen: readonly FaultPoint[] = [];
    before(async () => {
      ground = await open({ maxMinutes: 60 });
      chosen = [...chooseFaultPoints(ground.clean, points, seed, strata), ...and.map((point) => fromEnd(ground.clean, point))];
    });
    after(() => ground?.stop?.());
    for (let index = 0; index < count; index += 1)
      it(`${keeps} after fault ${index + 1} and one more try`, async function () {
        const point = chosen[index] ?? assert.fail('there are fewer points than asked for');
        const reached = await firstReached(point, ground.sweep, (tried) => {
          if (this.test) this.test.title += `: ${pointText(tried)}`;
        });
        assert.ok(reached, `no request was there that a fault like ${pointText(point)} could strike`);
      });
  });
}

/** Describes the whole sweep: every request meets every fault of these, a test for each fault. */
export function describeWholeGroundSweep(title: string, pick: (stratum: Stratum) => boolean, { what, keeps, open }: GroundSweep): void {
  describe(`every fault ${title} while ${what}`, () => {
    let ground: SweepGround;
    // One for each sort of fault: what one of them leaves behind is not the next one's to suffer from.
    beforeEach(async function () {
      this.timeout(LIMIT_MS);
      ground = await open({ maxMinutes: WHOLE_MINUTES });
    });
    afterEach(() => ground?.stop?.());
    for (const stratum of STRATA.filter(pick)) {
      it(`${keeps} after ${stratum.kind} at each of the ${stratum.among} and one more try`, async function () {
        this.timeout(WHOLE_MINUTES * 60_000);
        const points = everyFaultPoint(ground.clean, [stratum]);
        assert.notEqual(points.length, 0, `there is none of the ${stratum.among} that a fault could strike`);
        let reached = 0;
        for (const [index, point] of points.entries()) {
          if (await ground.sweep(point)) reached += 1;
          // Half an hour without a word looks like one that hangs.
          if ((index + 1) % SAID_EVERY === 0) process.stderr.write(`${stratum.kind}, ${stratum.among}: ${index + 1} of ${points.length}\n`);
        }
        if (this.test) this.test.title += `: ${reached} of ${points.length} reached`;
        // The last few may be missing: a slow clean run renews its lock and looks again more often.
        assert.ok(reached >= points.length * 0.9, `only ${reached} of ${points.length} were reached`);
      });
    }
  });
}

/** A control plane with a release, a garbage collector that starts anew up to two times, and two tries with pauses; milliseconds. */
const LIMIT_MS = 280_000;
const SAID_EVERY = 50;
/** Some 500 reads at about 4 s each, for each of at most two faults. */
const WHOLE_MINUTES = 180;

/** Real control planes behind a fault proxy on which the same work is done again and again, once for each fault. */
export interface SweepGround {
  /** The work without any fault: its requests. */
  readonly clean: readonly LoggedRequest[];
  /** The work with the fault on the way and one more try of whatever it struck. False if it was never reached. */
  readonly sweep: (point: FaultPoint) => Promise<boolean>;
  stop?(): Promise<void>;
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

/** True once a point was reached: a run that sent fewer requests than the clean one is tried at one that is earlier by a quarter, and so on. */
export async function firstReached(
  point: FaultPoint,
  sweep: (point: FaultPoint) => Promise<boolean>,
  trying: (point: FaultPoint) => void,
): Promise<boolean> {
  for (let nth = point.nth; nth >= 1; nth = Math.floor(nth * 0.75)) {
    trying({ ...point, nth });
    if (await sweep({ ...point, nth })) return true;
  }
  return false;
}
