import type { SweepSize } from './describe-sweep.ts';
import { chooseFaultPoints, type FaultPoint } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';
import { type ReferenceGround, referenceGround } from './reference-sweep.ts';
import { hasReleases } from './shared.ts';

/** Describes a sweep of faults over owner references that come off and go back; tests bear their number and say the point once they run. */
export function describeReferenceSweep({ points, seed }: SweepSize): void {
  describe(`faults while owner references come off and go back, ${points} fault points, SEED=${seed}`, function () {
    this.timeout(120_000);
    let ground: ReferenceGround;
    let chosen: readonly FaultPoint[] = [];
    before(async function () {
      if (!hasReleases()) this.skip();
      ground = await referenceGround();
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
