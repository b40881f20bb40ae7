import { describeGroundSweep } from '../support/describe-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back. `npm run chaos` takes them all. */
describeGroundSweep({ points: 12, seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) }, OFF_AND_BACK);
