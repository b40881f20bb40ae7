import { describeProcedureG } from '../support/describe-procedure-g.ts';

// A thousand, and the upgrade that two machines share, in `npm run test:full`.
describeProcedureG(60);
