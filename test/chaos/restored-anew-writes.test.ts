import { describeWholeGroundSweep } from '../support/describe-sweep.ts';
import { BACK_ANEW } from '../support/restore-sweep.ts';

describeWholeGroundSweep('of a write', ({ among }) => among === 'writes', BACK_ANEW);
