import { describeOperated } from '../support/describe-operated.ts';

describeOperated('v3.27.5', /^wait: /m, { fips: true });
