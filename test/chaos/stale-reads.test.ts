import { describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

describeWholeReferenceSweep('that makes a read stale or ends a watch', ({ among }) => among === 'repeated reads' || among === 'watches');
