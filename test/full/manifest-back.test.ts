import { describeKilledBack } from '../support/describe-manifest-back.ts';
import { seedOf } from '../support/seed.ts';

/** Another day, other points; SEED=N brings those of a failure back. */
describeKilledBack({ others: 100, seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)) });
