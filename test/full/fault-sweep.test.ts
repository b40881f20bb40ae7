import { describeSweep } from '../support/describe-sweep.ts';
import { NETSVC_SWEPT, TYPHA_SWEPT } from '../support/fault-sweep.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back. */
const seed = seedOf(process.env, Math.floor(Date.now() / 86_400_000));

describe('faults in procedure C on a real control plane', () => {
  describeSweep("the document's names", NETSVC_SWEPT, { points: 24, seed });
  describeSweep('published manifests with Typha', TYPHA_SWEPT, { points: 4, seed });
});
