import { describeGroundSweep } from '../support/describe-sweep.ts';
import { STRATA } from '../support/fault-points.ts';
import { CANARY_SWEPT } from '../support/fault-sweep.ts';
import { seedOf } from '../support/seed.ts';

const points = Number(process.env.POINTS ?? 100);
/** Another day, other points; SEED=N brings those of a failure back, POINTS=N takes fewer. */
const seed = seedOf(process.env, Math.floor(Date.now() / 86_400_000));

describeGroundSweep({ points, seed, strata: STRATA.filter(({ kind }) => kind.startsWith('kill-')) }, CANARY_SWEPT);
describeGroundSweep({ points: Math.ceil(points / 4), seed, strata: STRATA.filter(({ kind }) => !kind.startsWith('kill-')) }, CANARY_SWEPT);
