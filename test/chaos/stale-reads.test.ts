import { describeWholeGroundSweep } from '../support/describe-sweep.ts';
import { OFF_AND_BACK } from '../support/reference-sweep.ts';

// Neither here nor where references go back with new UIDs is anything watched: the upgrade of owned objects has watches.
describeWholeGroundSweep('that makes a read stale', ({ among }) => among === 'repeated reads', OFF_AND_BACK);
