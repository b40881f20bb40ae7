import { describeWholeGroundSweep } from '../support/describe-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';

describeWholeGroundSweep(
  'that cuts a read off or puts it off',
  ({ kind, among }) => among === 'reads' && !/error|unavailable/.test(kind),
  OFF_AND_BACK,
);
