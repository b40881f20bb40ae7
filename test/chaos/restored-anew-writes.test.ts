import { BACK_ANEW, describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

describeWholeReferenceSweep('of a write', ({ among }) => among === 'writes', BACK_ANEW);
