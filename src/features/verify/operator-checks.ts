import { notApplicable, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { defineCheck, failIfAny, PROGRAM } from '../survey/index.ts';
import type { VerifyCheck } from './facts.ts';

/** Everything that the operator writes, at one look; the wait holds it for a while. */
export const operatorDone: VerifyCheck = defineCheck('NS-310', {
  category: 'result',
  severity: 'error',
  ref: '§4.3/2',
  judge(facts) {
    const lags = read(facts.operator);
    if (lags === undefined) return notApplicable('no operator on this install path');
    return failIfAny(
      lags.map(({ subject, why }) => ({ text: subject, detail: why })),
      'the operator, its statuses, the components and their API are all at the target',
      (names) => ({
        because: `the operator is not done (${counted(lags.length, 'sign')}): ${names}`,
        hint: 'Wait for it; it names what lags and a deaf or pinned operator.',
        next: `${PROGRAM} wait`,
      }),
    );
  },
});
