import assert from 'node:assert/strict';
import { eachChosenPoint } from './chosen-points.ts';
import type { SweepSize } from './describe-sweep.ts';
import { chooseFaultPoints, everyFaultPoint, type FaultPoint, STRATA, type Stratum } from './fault-points.ts';
import type { GroundSweep, SweepGround } from './sweep-ground.ts';

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
