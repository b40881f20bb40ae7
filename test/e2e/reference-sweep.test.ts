import { describeGroundSweep } from '../support/describe-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';
import { seedOf } from '../support/seed.ts';

// Always the same points unless asked; `npm run chaos` takes them all.
describeGroundSweep({ points: 12, seed: seedOf(process.env, 1) }, OFF_AND_BACK);
