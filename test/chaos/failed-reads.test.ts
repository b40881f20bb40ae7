import { describeWholeGroundSweep } from '../support/describe-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';

describeWholeGroundSweep(
  'that the server answers a read with',
  ({ kind, among }) => among === 'reads' && /error|unavailable/.test(kind),
  OFF_AND_BACK,
);
