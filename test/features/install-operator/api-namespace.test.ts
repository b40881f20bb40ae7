import { calico } from '../../../src/profiles/calico.ts';
import { contextOf, found, object } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/check-cases.ts';

const operated = { detection: found({ path: 'operator', variant: undefined, hasApiServer: true }) };
const namespaces = (...names: readonly string[]) => ({ value: names.map((name) => object('v1', `Namespace/${name}`)) });
const context = contextOf({}, calico);

checkCases('NS-621', {
  'warns where the namespace of the API server will be deleted': {
    context,
    facts: { ...operated, namespaces: namespaces('calico-apiserver', 'calico-system') },
    is: 'warning',
    about: ['Namespace/calico-apiserver'],
    says: /moves to namespace calico-system/,
  },
  'passes where it has moved already': { context, facts: { ...operated, namespaces: namespaces('calico-system') }, is: 'ok' },
  'does not apply without an API server': {
    context,
    facts: { detection: found({ path: 'operator', variant: undefined, hasApiServer: false }) },
    is: 'not-applicable',
  },
  'does not apply where the target is none on this path': {
    context: contextOf({ release: 'v3.29.4' }, calico),
    facts: { ...operated, namespaces: namespaces('calico-apiserver', 'calico-system') },
    is: 'not-applicable',
  },
  'does not apply to a manifest install': { context, facts: { detection: found({ hasApiServer: true }) }, is: 'not-applicable' },
  'fails where namespaces cannot be read': {
    context,
    facts: { ...operated, namespaces: { unread: 'forbidden' } },
    is: 'warning',
    says: /forbidden/,
  },
});
