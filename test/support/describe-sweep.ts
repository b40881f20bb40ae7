import assert from 'node:assert/strict';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import { chooseFaultPoints, everyFaultPoint, type FaultPoint, STRATA, type Stratum } from './fault-points.ts';
import { type CleanRun, cleanRun, pointText, type Swept, sweepPoint } from './fault-sweep.ts';

/** Describes a sweep of faults over one ground; tests bear their number and say the point once they run. */
export function describeGroundSweep({ points, seed }: SweepSize, { what, keeps, open }: GroundSweep): void {
  describe(`faults while ${what}, ${points} fault points, SEED=${seed}`, function () {
    this.timeout(120_000);
    let ground: SweepGround;
    let chosen: readonly FaultPoint[] = [];
    before(async function () {
      this.timeout(GROUND_LIMIT_MS);
      ground = await open({ maxMinutes: 60 });
      chosen = chooseFaultPoints(ground.clean, points, seed);
    });
    after(() => ground?.stop());
    eachChosenPoint(points, (number) => `${keeps} after fault ${number} and one more try`, {
      chosen: () => chosen,
      sweep: (point) => ground.sweep(point),
    });
  });
}

/** Describes the whole sweep: every request meets every fault of these, a test for each fault. */
export function describeWholeGroundSweep(title: string, pick: (stratum: Stratum) => boolean, { what, keeps, open }: GroundSweep): void {
  describe(`every fault ${title} while ${what}`, () => {
    let ground: SweepGround;
    // One for each sort of fault: what one of them leaves behind is not the next one's to suffer from.
    beforeEach(async function () {
      this.timeout(GROUND_LIMIT_MS);
      ground = await open({ maxMinutes: WHOLE_MINUTES });
    });
    afterEach(() => ground?.stop());
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

/** A control plane, and a garbage collector that starts anew up to two times, or a release that is installed. */
const GROUND_LIMIT_MS = 240_000;
const SAID_EVERY = 50;
/** Some 500 reads at about 4 s each, for each of at most two faults. */
const WHOLE_MINUTES = 180;

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

/**
 * A test for each of so many points. Which these are is known once a clean run has counted its requests, so tests bear their number, and
 * say the point once they run. A run that sent fewer requests than that one does not reach its point: an earlier one is then tried.
 */
export function eachChosenPoint(
  count: number,
  title: (number: number) => string,
  { chosen, sweep }: { readonly chosen: () => readonly FaultPoint[]; readonly sweep: (point: FaultPoint) => Promise<boolean> },
): void {
  for (let index = 0; index < count; index += 1) {
    it(title(index + 1), async function () {
      const point = chosen()[index];
      if (!point) throw new Error('there are fewer points than asked for');
      const reached = await firstReached(point, sweep, (tried) => {
        if (this.test) this.test.title += `: ${pointText(tried)}`;
      });
      if (!reached) throw new Error(`no request was there that a fault like ${pointText(point)} could strike`);
    });
  }
}

/** True once a point was reached: this one, or one that is earlier by a quarter, and so on. */
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

/** A sweep's size and chance. */
export interface SweepSize {
  readonly points: number;
  readonly seed: number;
}

/**
 * Describes a sweep: a clean run counts the requests, then each point is a test. The points depend on the count,
 * so tests bear their number, and say the point once they run and when they fail.
 */
export function describeSweep(title: string, swept: Swept, { points, seed }: SweepSize): void {
  describe(`${title}, ${points} fault points, SEED=${seed}`, function () {
    this.timeout(POINT_LIMIT_MS);
    let clean: CleanRun;
    let chosen: readonly FaultPoint[] = [];
    before(async () => {
      clean = await cleanRun(swept);
      chosen = chooseFaultPoints(clean.requests, points, seed);
    });
    eachChosenPoint(points, (number) => `ends as the clean run does after fault ${number} and the same command again`, {
      chosen: () => chosen,
      sweep: (point) => sweepPoint(swept, point, clean),
    });
  });
}

/** Two runs with pauses, and a cluster; milliseconds. */
const POINT_LIMIT_MS = 280_000;
