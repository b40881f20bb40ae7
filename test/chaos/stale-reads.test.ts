import { describeWholeGroundSweep } from '../support/describe-ground-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';

describeWholeGroundSweep(
  'that makes a read stale or ends a watch',
  ({ among }) => among === 'repeated reads' || among === 'watches',
  OFF_AND_BACK,
);
