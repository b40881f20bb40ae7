import type { ManagedBy } from '../../src/core/installation.ts';
import { found } from '../fixtures/facts.ts';
import { checkCases } from '../support/check-cases.ts';

const managed = (kind: ManagedBy['kind'], name: string) => ({
  detection: found({ managedBy: [{ kind, name, evidence: 'label', hint: `pause ${name}` }] }),
});

checkCases('NS-108', {
  'passes with v1 CRDs': { is: 'ok' },
  'fails with native ones': { facts: { detection: found({ nativeV3Crds: true }) }, is: 'error' },
});

checkCases('NS-109', {
  'passes if there is no platform': { is: 'ok' },
  'does not mind GitOps': { facts: managed('gitops', 'Flux'), is: 'ok' },
  'fails if a platform manages it': { facts: managed('platform', 'RKE2'), is: 'error', about: ['RKE2'] },
  'fails even if the installation is unclear': {
    facts: {
      detection: {
        value: {
          type: 'ambiguous',
          because: '',
          candidates: [],
          evidence: [],
          managedBy: [{ kind: 'platform', name: 'AKS', evidence: 'label', hint: 'use it' }],
        },
      },
    },
    is: 'error',
    about: ['AKS'],
  },
});

checkCases('NS-110', {
  'passes if there is none': { is: 'ok' },
  'warns if GitOps manages it': { facts: managed('gitops', 'Flux'), is: 'warning', about: ['Flux'] },
});
