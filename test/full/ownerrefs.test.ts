import { describeProcedureG } from '../support/describe-procedure-g.ts';

describeProcedureG(1000);
