import { describeGroundSweep } from '../support/describe-sweep.ts';
import { HEP } from '../support/hep-ground.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back. Every request meets every fault on the sandbox (`hep-sweep.test.ts`). */
describeGroundSweep({ points: 48, seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) }, HEP);
