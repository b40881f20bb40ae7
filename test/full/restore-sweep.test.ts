import { BACK_ANEW, describeReferenceSweep } from '../support/describe-reference-sweep.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back. `npm run chaos` takes them all. */
describeReferenceSweep({ points: 15, seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) }, BACK_ANEW);
