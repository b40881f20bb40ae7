import { chooseFaultPoints, type FaultPoint } from './fault-points.ts';
import { type CleanRun, cleanRun, pointText, type Swept, sweepPoint } from './fault-sweep.ts';

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
    for (let index = 0; index < points; index += 1) {
      it(`ends as the clean run does after fault ${index + 1} and the same command again`, async function () {
        const point = chosen[index];
        if (!point) throw new Error('there are fewer points than asked for');
        if (this.test) this.test.title += `: ${pointText(point)}`;
        if (await sweepPoint(swept, point, clean)) return;
        if (this.test) this.test.title += ', never reached';
        this.skip();
      });
    }
  });
}

/** Two runs with pauses, and a cluster; milliseconds. */
const POINT_LIMIT_MS = 280_000;
