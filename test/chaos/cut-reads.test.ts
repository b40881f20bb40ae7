import { describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

describeWholeReferenceSweep(
  'that cuts a read off or puts it off',
  ({ kind, among }) => among === 'reads' && !/error|unavailable/.test(kind),
);
