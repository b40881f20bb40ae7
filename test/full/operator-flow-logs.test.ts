import { describeOperated } from '../support/describe-operated.ts';

describeOperated('v3.20.6', /apply the operator/, { flowLogs: true });
describeOperated('v3.24.6', /switch on Goldmane and Whisker/, { flowLogs: true });
describeOperated('v3.30.7', /^\S+ wait: /m, { flowLogs: true });
