import { describeLostMachine, describeProcedureG } from '../support/describe-procedure-g.ts';

describeProcedureG(1000);
describeLostMachine(1000);
