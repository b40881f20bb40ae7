import { describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

describeWholeReferenceSweep(
  'that the server answers a read with',
  ({ kind, among }) => among === 'reads' && /error|unavailable/.test(kind),
);
