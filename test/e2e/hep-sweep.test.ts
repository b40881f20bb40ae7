import { describeGroundSweep } from '../support/describe-sweep.ts';
import { HEP } from '../support/hep-ground.ts';
import { seedOf } from '../support/seed.ts';

// A few, always the same unless asked: the sandbox's sweep has every request and every fault.
describeGroundSweep({ points: 3, seed: seedOf(process.env, 1) }, HEP);
