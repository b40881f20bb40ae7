import { describeLostMachine, describeProcedureG } from '../support/describe-procedure-g.ts';

// A thousand in `npm run test:full`.
describeProcedureG(60);
describeLostMachine(60);
