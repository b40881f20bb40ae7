import { describeWholeGroundSweep } from '../support/describe-sweep.ts';
import { BACK_ANEW } from '../support/restore-sweep.ts';

// Hours: every read meets every fault, and an upgrade is played between any two of them.
describeWholeGroundSweep('of a read', ({ among }) => among === 'reads' || among === 'repeated reads', BACK_ANEW);
