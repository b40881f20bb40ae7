import type { FaultPoint } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';

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
