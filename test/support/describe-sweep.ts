import { eachChosenPoint } from './chosen-points.ts';
import { chooseFaultPoints, type FaultPoint } from './fault-points.ts';
import { type CleanRun, cleanRun, type Swept, sweepPoint } from './fault-sweep.ts';

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
