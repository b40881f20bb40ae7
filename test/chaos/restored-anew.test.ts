import { BACK_ANEW, describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';
import { STRATA } from '../support/fault-points.ts';

// A description for each fault: they take an hour and more.
for (const one of STRATA) describeWholeReferenceSweep(`of one sort (${one.kind}, ${one.among})`, (stratum) => stratum === one, BACK_ANEW);
