import { describeGroundSweep } from '../support/describe-ground-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';
import { seedOf } from '../support/seed.ts';

// Always the same points unless asked: `npm run chaos` has the chance, and many more.
describeGroundSweep({ points: 40, seed: seedOf(process.env, 1) }, OFF_AND_BACK);
