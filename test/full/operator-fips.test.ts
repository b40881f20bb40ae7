import { describeOperated } from '../support/describe-operated.ts';

describeOperated('v3.27.5', /^\S+ wait: /m, { fips: true });
