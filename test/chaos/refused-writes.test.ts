import { describeWholeGroundSweep } from '../support/describe-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';

describeWholeGroundSweep(
  'that refuses a write',
  ({ kind, among }) => among === 'writes' && !/^(kill|reset|silence)/.test(kind),
  OFF_AND_BACK,
);
