import { describeWholeReferenceSweep } from '../support/describe-reference-sweep.ts';

describeWholeReferenceSweep('that refuses a write', ({ kind, among }) => among === 'writes' && !/^(kill|reset|silence)/.test(kind));
