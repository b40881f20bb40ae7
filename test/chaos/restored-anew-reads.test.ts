import { BACK_ANEW, describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

// Hours: every read meets every fault, and an upgrade is played between any two of them.
describeWholeReferenceSweep('of a read or a watch', ({ among }) => among !== 'writes', BACK_ANEW);
