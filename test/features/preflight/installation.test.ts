import { contextOf, found } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const none = { detection: { value: { type: 'none', because: 'no agents' } } } as const;
const half = { detection: { value: { type: 'half-migrated', because: 'two sets of agents', evidence: ['n1 is left'] } } } as const;
const ambiguous = {
  detection: { value: { type: 'ambiguous', because: 'two fit', candidates: ['calico', 'canal'], evidence: ['env is edited'] } },
} as const;
const doubtful = {
  detection: { value: { type: 'ambiguous', because: 'it may be another’s', candidates: ['operator'], evidence: [] } },
} as const;

checkCases('NS-101', {
  'passes if one is found': { is: 'ok' },
  'fails if there is none': { facts: none, is: 'error', says: /context blue.*no agents/ },
  'leaves an unclear one to others': { facts: half, is: 'not-applicable' },
});

checkCases('NS-102', {
  'passes if it is clear': { is: 'ok' },
  'fails with the candidates if it is not': { facts: ambiguous, is: 'error', about: ['env is edited'], hint: /--variant \(calico/ },
  'names the other flag for a candidate that is a path': {
    facts: doubtful,
    is: 'error',
    says: /installation is not clear: it may be/,
    hint: /--path \(.*operator/,
  },
  'does not apply without an installation': { facts: none, is: 'not-applicable' },
});

checkCases('NS-103', {
  'passes if there is one set of agents': { is: 'ok' },
  'fails if a migration is under way': { facts: half, is: 'error', about: ['n1 is left'], next: /operator-node-migration/ },
  'does not apply without an installation': { facts: none, is: 'not-applicable' },
});

checkCases('NS-104', {
  'passes if path and variant are known': { is: 'ok', says: /manifest path, variant calico-typha, API datastore/ },
  'passes on the operator path without a variant': { facts: { detection: found({ path: 'operator', variant: undefined }) }, is: 'ok' },
  'fails if the variant is not recognised': { facts: { detection: found({ variant: undefined }) }, is: 'error' },
  'fails if the profile does not know the variant': { facts: { detection: found({ variant: 'mine' }) }, is: 'error' },
  'fails if --path contradicts the cluster': { context: contextOf({ path: 'operator' }), is: 'error' },
});

const unfound = { facts: { detection: { value: { type: 'none', because: '' } } }, is: 'not-applicable' } as const;

checkCases('NS-901', {
  'has nothing to advise with the API datastore': { is: 'ok', says: /as recommended/ },
  'advises, without a warning, in key-value mode': {
    facts: { detection: found({ datastore: 'kvstore' }) },
    is: 'ok',
    says: /^advice: .* after this upgrade \(a procedure of its own\)$/,
  },
  'does not apply without an installation': unfound,
});

checkCases('NS-902', {
  'has nothing to advise with the operator': { facts: { detection: found({ path: 'chart' }) }, is: 'ok', says: /as recommended/ },
  'advises, without a warning, with a manifest': { is: 'ok', says: /^advice: .* after this upgrade \(a procedure of its own\)$/ },
  'does not apply without an installation': unfound,
});
