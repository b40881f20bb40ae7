import { describeOwnedUpgradeSweep } from '../support/owned-upgrade-sweep.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back. */
describeOwnedUpgradeSweep({ points: 16, seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) });
