import type { FaultPoint } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';

/**
 * A test for each of so many points. Which these are is known once a clean run has counted its requests, so tests bear their number, and
 * say the point once they run. One that is never reached, for the run sent fewer requests, is skipped: nothing was tried.
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
      if (this.test) this.test.title += `: ${pointText(point)}`;
      if (await sweep(point)) return;
      if (this.test) this.test.title += ', never reached';
      this.skip();
    });
  }
}
