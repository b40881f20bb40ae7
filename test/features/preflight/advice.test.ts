import { found } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/check-cases.ts';

const none = { facts: { detection: { value: { type: 'none', because: '' } } }, is: 'not-applicable' } as const;

checkCases('NS-901', {
  'has nothing to advise with the API datastore': { is: 'ok', says: /as recommended/ },
  'advises, without a warning, in key-value mode': { facts: { detection: found({ datastore: 'kvstore' }) }, is: 'ok', says: /^advice: / },
  'does not apply without an installation': none,
});

checkCases('NS-902', {
  'has nothing to advise with the operator': { facts: { detection: found({ path: 'chart' }) }, is: 'ok', says: /as recommended/ },
  'advises, without a warning, with a manifest': { is: 'ok', says: /^advice: / },
  'does not apply without an installation': none,
});
