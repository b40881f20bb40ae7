import { describeSweep } from '../support/describe-sweep.ts';
import { NETSVC_SWEPT } from '../support/fault-sweep.ts';
import { seedOf } from '../support/seed.ts';

// Always the same points unless asked: `npm run test:full` has the chance, and many more.
describeSweep('faults in procedure C on a real control plane', NETSVC_SWEPT, { points: 4, seed: seedOf(process.env, 1) });
