import { describeReferenceSweep } from '../support/describe-reference-sweep.ts';
import { seedOf } from '../support/seed.ts';

// Always the same points unless asked: `npm run chaos` has the chance, and many more.
describeReferenceSweep({ points: 40, seed: seedOf(process.env, 1) });
