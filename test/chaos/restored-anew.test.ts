import { describeWholeGroundSweep } from '../support/describe-ground-sweep.ts';
import { STRATA } from '../support/fault-points.ts';
import { BACK_ANEW } from '../support/restore-sweep.ts';

// A ground for each fault: they take an hour and more.
for (const one of STRATA) describeWholeGroundSweep(`of one sort (${one.kind}, ${one.among})`, (stratum) => stratum === one, BACK_ANEW);
