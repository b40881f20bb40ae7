import assert from 'node:assert/strict';
import { endpointProfiles } from '../../../src/features/policies/stored-policies.ts';
import { policyWorld } from '../../../src/features/policies/survey.ts';
import { postureOf } from '../../../src/features/policy-rules/posture.ts';
import type { Installation } from '../../../src/kernel/installation.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, object } from '../../fixtures/facts.ts';

const LIVE = [
  object('v1', 'Namespace/shop', { metadata: { labels: { team: 'a' } } }),
  object('v1', 'ServiceAccount/shop/web.front', { metadata: { labels: { role: 'web' } } }),
];
const policyOf = (selectors: Pick<Asked, 'selector' | 'namespaceSelector'>): KubeObject =>
  object('crd.projectcalico.org/v1', 'GlobalNetworkPolicy/p', { spec: { ...selectors, types: ['Ingress'] } });

interface Asked {
  readonly profiles: readonly string[];
  readonly selector?: string;
  readonly namespaceSelector?: string;
  readonly datastore?: Installation['datastore'];
  readonly stored?: readonly KubeObject[];
  readonly profile?: typeof calico;
}

/** What holds for traffic to a host whose endpoint names these profiles. */
async function ingressOf({ profiles, selector, namespaceSelector, datastore = 'api', stored = [], profile = calico }: Asked) {
  const cluster = {
    get: async ({ kind }: { readonly kind: string }, name: string, namespace?: string) =>
      LIVE.find((one) => one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace),
  };
  const objects = async (plural: string) => (plural === 'profiles' ? stored : []);
  const found = await endpointProfiles({ cluster, objects, profile, datastore }, [{ profiles }]);
  const policies =
    (selector ?? namespaceSelector) === undefined
      ? []
      : [policyOf({ ...(selector ? { selector } : {}), ...(namespaceSelector ? { namespaceSelector } : {}) })];
  const world = policyWorld(contextOf({}, profile), { policies, tiers: [], profiles: found });
  return postureOf({ labels: {}, profiles }, world).ingress;
}

const open = { policies: [], end: 'allow' };
const denied = { policies: [], end: 'deny' };
const policed = { policies: ['p'], end: 'deny' };

const cases: Readonly<Record<string, readonly [Asked, expected: object]>> = {
  'the profile of a namespace lets everything through': [{ profiles: ['kns.shop'] }, open],
  'that of a namespace which is not there is no profile': [{ profiles: ['kns.gone'] }, denied],
  'the profile of a service account has no rules': [{ profiles: ['ksa.shop.web.front'] }, denied],
  'a service account’s beside a namespace’s leaves it open': [{ profiles: ['ksa.shop.web.front', 'kns.shop'] }, open],
  'any other name is no profile where the API stores them': [{ profiles: ['team'] }, denied],
  'a namespace gives its labels, under keys of their own': [{ profiles: ['kns.shop'], selector: 'pcns.team == "a"' }, policed],
  'a namespace gives its name': [{ profiles: ['kns.shop'], selector: 'pcns.projectcalico.org/name == "shop"' }, policed],
  'a service account gives its labels and its name': [
    { profiles: ['ksa.shop.web.front'], selector: 'pcsa.role == "web" && pcsa.projectcalico.org/name == "web.front"' },
    policed,
  ],
  'a policy for a namespace reaches the host that names its profile': [
    { profiles: ['kns.shop'], namespaceSelector: 'team == "a"' },
    policed,
  ],
  'a policy for another namespace does not': [{ profiles: ['kns.shop'], namespaceSelector: 'team == "b"' }, open],
  'a policy for a namespace reaches no host without its profile': [{ profiles: [], namespaceSelector: 'team == "a"' }, denied],
  'what is for everything in a namespace reaches no host': [{ profiles: ['kns.shop'], namespaceSelector: 'all()' }, open],
  'labels that no profile gives select nothing': [{ profiles: ['kns.shop'], selector: 'pcns.team == "b"' }, open],
  'in key-value mode it is what is stored, not what the namespace would give': [
    { profiles: ['kns.shop'], datastore: 'kvstore', stored: [object('projectcalico.org/v3', 'Profile/kns.shop', { spec: {} })] },
    denied,
  ],
  'in key-value mode a stored one lets through what its rules allow': [
    {
      profiles: ['kns.shop'],
      datastore: 'kvstore',
      stored: [object('projectcalico.org/v3', 'Profile/kns.shop', { spec: { ingress: [{ action: 'Allow' }] } })],
    },
    open,
  ],
  'a service of other names derives none': [{ profiles: ['kns.shop'], profile: netsvc }, denied],
};

describe('profiles that host endpoints name', () => {
  for (const [title, [asked, expected]] of Object.entries(cases)) it(title, async () => assert.deepEqual(await ingressOf(asked), expected));
});
