import { describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

describeWholeReferenceSweep('that cuts a write off', ({ kind, among }) => among === 'writes' && /^(kill|reset|silence)/.test(kind));
