import { command } from '../../../src/kernel/argv.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const finding = (id: string, parts: Partial<Finding> = {}): Finding => ({
  ...{ id, title: id, category: 'manifest', ref: '§4.2/2', outcome: 'error', message: `${id} is open`, evidence: [] },
  ...parts,
});
const chart = (...findings: readonly Finding[]) => ({ chart: { value: findings } });

checkCases('NS-608', {
  'does not apply outside the chart path': { is: 'not-applicable' },
  'passes where nothing stands against the upgrade': { facts: chart(finding('NS-233', { outcome: 'ok' })), is: 'ok' },
  'passes over what a person has accepted': { facts: chart(finding('NS-240', { outcome: 'accepted' })), is: 'ok' },
  'names every open finding and how to learn more': {
    facts: chart(finding('NS-233'), finding('NS-241', { exit: 'conflicts' })),
    is: 'error',
    about: ['NS-233', 'NS-241'],
    next: /explain NS-233$/,
  },
  'leads to what the first finding leads to': {
    facts: chart(
      finding('NS-244', { hint: 'Move it.', next: command`kubectl netsvc-upgrade plan --move-release` }),
      finding('NS-241', { hint: 'Other.' }),
    ),
    is: 'error',
    hint: /^NS-244: Move it\. \(and 1 more finding/,
    next: /plan --move-release$/,
  },
  'leaves it to apply in a chain that goes on to that': {
    facts: chart(finding('NS-233')),
    context: { ...contextOf(), chain: { pending: [], onlyPlanned: true, later: ['crds', 'apply'] } },
    is: 'not-applicable',
  },
  'asks for a person where there are only conflicts': {
    facts: chart(finding('NS-241', { exit: 'conflicts' })),
    is: 'error',
    exit: 'conflicts',
  },
  'fails where it could not be found out': { facts: { chart: { unread: 'no answer' } }, is: 'error', says: /no answer/ },
});
