import { describeGroundSweep } from '../support/describe-sweep.ts';
import { NETSVC_SWEPT } from '../support/fault-sweep.ts';
import { seedOf } from '../support/seed.ts';

// Always the same points unless asked: `npm run test:full` has the chance, and many more.
describeGroundSweep({ points: 2, seed: seedOf(process.env, 1) }, NETSVC_SWEPT);
