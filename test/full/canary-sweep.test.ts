import { describeGroundSweep } from '../support/describe-sweep.ts';
import { CANARY_SWEPT } from '../support/fault-sweep.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back, POINTS=N takes fewer. */
describeGroundSweep(
  { points: Number(process.env.POINTS ?? 100), seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) },
  CANARY_SWEPT,
);
