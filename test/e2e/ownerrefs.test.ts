import { describeProcedureG } from '../support/describe-procedure-g.ts';

// A thousand in `npm run test:full`.
describeProcedureG(60);
