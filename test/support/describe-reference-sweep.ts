import assert from 'node:assert/strict';
import type { SweepSize } from './describe-sweep.ts';
import { chooseFaultPoints, everyFaultPoint, type FaultPoint, STRATA, type Stratum } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';
import { type GroundOptions, type ReferenceGround, referenceGround } from './reference-sweep.ts';
import { restoreGround } from './restore-sweep.ts';
import { hasReleases } from './shared.ts';

/** What is swept, in words, and where. */
interface SweptReferences {
  readonly what: string;
  open(options: GroundOptions): Promise<ReferenceGround>;
}

const OFF_AND_BACK: SweptReferences = { what: 'owner references come off and go back', open: referenceGround };
/** Off without a fault, an upgrade's new UIDs and policy names, and back under faults. */
export const BACK_ANEW: SweptReferences = { what: 'owner references go back with new UIDs', open: restoreGround };

/** Describes a sweep of faults over owner references that come off and go back; tests bear their number and say the point once they run. */
export function describeReferenceSweep({ points, seed }: SweepSize, { what, open }: SweptReferences = OFF_AND_BACK): void {
  describe(`faults while ${what}, ${points} fault points, SEED=${seed}`, function () {
    this.timeout(120_000);
    let ground: ReferenceGround;
    let chosen: readonly FaultPoint[] = [];
    before(async function () {
      this.timeout(GROUND_LIMIT_MS);
      if (!hasReleases()) this.skip();
      ground = await open({ maxMinutes: 60 });
      chosen = chooseFaultPoints(ground.clean, points, seed);
    });
    after(() => ground?.stop());
    for (let index = 0; index < points; index += 1) {
      it(`lose no reference that is not recorded, and are all back after fault ${index + 1} and one more try`, async function () {
        const point = chosen[index];
        if (!point) throw new Error('there are fewer points than asked for');
        if (this.test) this.test.title += `: ${pointText(point)}`;
        if (await ground.sweep(point)) return;
        if (this.test) this.test.title += ', never reached';
        this.skip();
      });
    }
  });
}

/** Describes the whole sweep: every request meets every fault of these, a test for each fault. */
export function describeWholeReferenceSweep(
  title: string,
  pick: (stratum: Stratum) => boolean,
  { what, open }: SweptReferences = OFF_AND_BACK,
): void {
  describe(`every fault ${title} while ${what}`, () => {
    let ground: ReferenceGround;
    // One for each sort of fault: what one of them leaves behind is not the next one's to suffer from.
    beforeEach(async function () {
      this.timeout(GROUND_LIMIT_MS);
      if (!hasReleases()) this.skip();
      ground = await open({ maxMinutes: WHOLE_MINUTES });
    });
    afterEach(() => ground?.stop());
    for (const stratum of STRATA.filter(pick)) {
      it(`${stratum.kind} at each of the ${stratum.among} loses no reference that is not recorded, and one more try brings all back`, async function () {
        this.timeout(WHOLE_MINUTES * 60_000);
        const points = everyFaultPoint(ground.clean, [stratum]);
        let reached = 0;
        for (const point of points) if (await ground.sweep(point)) reached += 1;
        if (this.test) this.test.title += `: ${reached} of ${points.length} reached`;
        // The last few may be missing: a slow clean run renews its lock and looks again more often.
        assert.ok(points.length === 0 || reached >= points.length * 0.9, `only ${reached} of ${points.length} were reached`);
      });
    }
  });
}

/** A control plane, and a garbage collector that starts anew up to two times. */
const GROUND_LIMIT_MS = 240_000;
/** Some 500 reads at about 4 s each, for each of at most two faults. */
const WHOLE_MINUTES = 180;
