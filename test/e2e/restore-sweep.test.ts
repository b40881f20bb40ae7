import { describeGroundSweep } from '../support/describe-ground-sweep.ts';
import { BACK_ANEW } from '../support/restore-sweep.ts';
import { seedOf } from '../support/seed.ts';

// One of each fault; always the same points unless asked. `npm run test:full` has the chance, and `npm run chaos` takes them all.
describeGroundSweep({ points: 12, seed: seedOf(process.env, 1) }, BACK_ANEW);
