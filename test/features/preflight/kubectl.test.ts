import { checkCases } from '../../support/check-cases.ts';

const kubectl = (gitVersion?: string) => ({ client: { value: { path: '/usr/bin/kubectl', ...(gitVersion ? { gitVersion } : {}) } } });
const none = { client: { value: {} } };

checkCases('NS-003', {
  'passes if it is on PATH': { is: 'ok', says: /\/usr\/bin\/kubectl/ },
  'fails if it is not': { facts: none, is: 'error' },
});

checkCases('NS-004', {
  'passes from v1.26 on': { facts: kubectl('v1.26.0'), is: 'ok' },
  'warns before': { facts: kubectl('v1.25.16'), is: 'warning' },
  'fails before server-side apply was stable': { facts: kubectl('v1.21.14'), is: 'error' },
  'fails if it does not tell its version': { facts: kubectl(), is: 'error' },
  'leaves a missing kubectl to NS-003': { facts: none, is: 'not-applicable' },
});

checkCases('NS-005', {
  'passes one minor below': { facts: kubectl('v1.34.9'), is: 'ok' },
  'passes one minor above': { facts: kubectl('v1.36.0'), is: 'ok' },
  'warns two minors away': { facts: kubectl('v1.33.0'), is: 'warning', says: /2 minors/ },
  'does not apply without a version': { facts: kubectl(), is: 'not-applicable' },
});
