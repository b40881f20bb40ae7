import type { OperatedFacts } from '../../../src/features/survey/facts.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, found, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';

const API = 'operator.tigera.io/v1';
const detection = found({ path: 'operator', variant: undefined, hasApiServer: true });
const context = contextOf({}, calico);
type Values = { readonly [Field in keyof OperatedFacts]?: Extract<OperatedFacts[Field], { value: unknown }>['value'] };
const readings = (values: Values) => Object.fromEntries(Object.entries(values).map(([field, value]) => [field, { value }]));
const status = (name: string) => object(API, `TigeraStatus/${name}`, { status: { conditions: [{ type: 'Available', status: 'True' }] } });
const nothing = {
  imageSets: [],
  gateways: [],
  gatewayPolicy: undefined,
  gatewayDefinitions: [],
  components: [object(API, 'APIServer/default')],
  statuses: [status('calico')],
};
const operated = (change: Values = {}) => ({
  detection,
  operated: readings({ ...nothing, installation: installed({}), ...change }) as unknown as OperatedFacts,
});
const forbidden = { unread: 'forbidden' };
/** Everything was read but for these. */
const without = (...fields: readonly (keyof OperatedFacts)[]) => ({
  detection,
  operated: { ...operated().operated, ...Object.fromEntries(fields.map((field) => [field, forbidden])) },
});
const installed = (spec: object) => object(API, 'Installation/default', { spec });
const set = (name: string) => object(API, `ImageSet/${name}`);
const forOperators = {
  'does not apply to a manifest install': { context, is: 'not-applicable' },
  'does not apply where the profile knows no names': { context: contextOf({}, netsvc), facts: operated(), is: 'not-applicable' },
} as const;
/** A check fails by what it looks at, and by nothing else. */
const byItsOwn = (severity: 'error' | 'warning', ...fields: readonly (keyof OperatedFacts)[]) => {
  const others = (Object.keys(operated().operated) as (keyof OperatedFacts)[]).filter((field) => !fields.includes(field));
  return {
    'fails where it cannot be read': { context, facts: without(...fields), is: severity, says: /forbidden/ },
    'is judged where the rest cannot be read': { context, facts: without(...others), is: 'ok' },
  } as const;
};

checkCases('NS-622', {
  'fails where images are pinned for the old release only': {
    context,
    facts: operated({ imageSets: [set('calico-v3.27.5'), set('enterprise-v3.19')] }),
    is: 'error',
    about: ['ImageSet/calico-v3.27.5'],
    says: /stays degraded without ImageSet\/calico-v3\.32\.1/,
    next: /plan -o images$/,
  },
  'passes with the set of the target': {
    context,
    facts: operated({ imageSets: [set('calico-v3.27.5'), set('calico-v3.32.1')] }),
    is: 'ok',
  },
  'passes where nothing is pinned': { context, facts: operated({ imageSets: [set('enterprise-v3.19')] }), is: 'ok' },
  ...forOperators,
  ...byItsOwn('error', 'imageSets'),
});

const pooled = (...ipPools: readonly object[]) => operated({ installation: installed({ calicoNetwork: { ipPools } }) });
const pool = (name: string, spec: { readonly cidr: string; readonly disabled?: boolean }) => resource(`IPPool/${name}`, spec);

checkCases('NS-624', {
  'warns of a pool that was added by hand': {
    context,
    facts: {
      ...pooled({ cidr: '10.0.0.0/16' }),
      resources: resources(pool('a', { cidr: '10.0.0.0/16' }), pool('mine', { cidr: '10.9.0.0/16' })),
    },
    is: 'warning',
    about: ['IPPool/mine'],
  },
  'warns of a pool that is in the list and no longer in the cluster': {
    context,
    facts: { ...pooled({ cidr: '10.0.0.0/16' }, { cidr: 'FD00::/48' }), resources: resources(pool('a', { cidr: '10.0.0.0/16' })) },
    is: 'warning',
    about: ['Installation/default'],
  },
  'warns of a disabled pool that comes back': {
    context,
    facts: { ...pooled({ cidr: '10.0.0.0/16' }), resources: resources(pool('a', { cidr: '10.0.0.0/16', disabled: true })) },
    is: 'warning',
    about: ['IPPool/a'],
  },
  'warns of one network that is written in two ways, and says that it is one': {
    context,
    facts: {
      ...pooled({ cidr: '42::/48' }, { cidr: '10.1.0.0/16' }),
      resources: resources(pool('six', { cidr: '42:0::/48' }), pool('four', { cidr: '10.1.0.0/16' })),
    },
    is: 'warning',
    about: ['IPPool/six'],
    details: [/^is 42:0::\/48, and 42::\/48 in the Installation: one network written in two ways, and the operator deletes the pool/],
  },
  'passes where both say the same, in any case of letters': {
    context,
    facts: {
      ...pooled({ cidr: '10.0.0.0/16', disableNewAllocations: true }, { cidr: 'FD00::/48' }),
      resources: resources(pool('a', { cidr: '10.0.0.0/16', disabled: true }), pool('b', { cidr: 'fd00::/48' })),
    },
    is: 'ok',
  },
  'does not apply where the Installation lists none': { context, facts: pooled(), is: 'not-applicable' },
  'fails where the Installation cannot be read': { context, facts: without('installation'), is: 'warning', says: /forbidden/ },
  ...forOperators,
});

const tier = (name: string) => resource(`Tier/${name}`, { order: 1 });
const policy = (name: string, spec: object, metadata = {}) => resource(`GlobalNetworkPolicy/${name}`, { ...spec }, metadata);
const owned = { ownerReferences: [{ apiVersion: API, kind: 'Installation', name: 'default', uid: 'u' }] };

checkCases('NS-625', {
  'passes where nothing of a person is in it or ordered around it': {
    context,
    facts: {
      resources: resources(
        ...['allow-tigera', 'default', 'kube-admin', 'adminnetworkpolicy'].map(tier),
        policy('allow-tigera.theirs', { tier: 'allow-tigera' }, owned),
        policy('other', { tier: 'default' }),
      ),
    },
    is: 'ok',
    says: /^the tier allow-tigera is called calico-system in the target; no policy of yours is in it/,
  },
  'warns of a tier of a person’s, which is ordered around it': {
    context,
    facts: { resources: resources(tier('allow-tigera'), tier('default'), tier('security'), resource('Tier/theirs', {}, owned)) },
    is: 'warning',
    about: ['Tier/security'],
    next: /get tiers\.crd\.projectcalico\.org/,
  },
  'warns of policies in it that no controller owns': {
    context,
    facts: {
      resources: resources(
        tier('allow-tigera'),
        policy('allow-tigera.mine', { tier: 'allow-tigera' }),
        policy('allow-tigera.theirs', { tier: 'allow-tigera' }, owned),
        policy('other', { tier: 'default' }),
      ),
    },
    is: 'warning',
    about: ['GlobalNetworkPolicy/allow-tigera.mine'],
    says: /called calico-system in the target.* do not follow: GlobalNetworkPolicy\/allow-tigera\.mine/,
  },
  'passes without that tier': { context, facts: { resources: resources(tier('default')) }, is: 'ok' },
  'does not apply where the installed release has the new name': {
    context,
    facts: { detection: found({ release: 'v3.32.0' }), resources: resources(tier('allow-tigera')) },
    is: 'not-applicable',
  },
  'does not apply to a profile without such a tier': { context: contextOf({}, netsvc), is: 'not-applicable' },
});

const gateway = (spec: object) => object(API, 'GatewayAPI/default', { spec });
const gatewayPolicy = object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy/safe-upgrades.gateway.networking.k8s.io');

const definition = (plural: string, bundle: string) =>
  object('apiextensions.k8s.io/v1', `CustomResourceDefinition/${plural}.gateway.networking.k8s.io`, {
    metadata: { annotations: { 'gateway.networking.k8s.io/bundle-version': bundle } },
  });

checkCases('NS-626', {
  'warns where a policy guards the definitions that the operator brings': {
    context,
    facts: operated({ gateways: [gateway({})], gatewayPolicy }),
    is: 'warning',
    about: ['ValidatingAdmissionPolicy/safe-upgrades.gateway.networking.k8s.io', 'GatewayAPI/default'],
    next: /kubectl edit gatewayapis\.operator\.tigera\.io default/,
  },
  'passes where the operator was told to bring them': {
    context,
    facts: operated({ gateways: [gateway({ crdManagement: 'Reconcile' })], gatewayPolicy }),
    is: 'ok',
  },
  'warns of old definitions that nothing guards: the operator leaves them as they are': {
    context,
    facts: operated({
      gateways: [gateway({})],
      gatewayDefinitions: [definition('httproutes', 'v1.2.1'), definition('gateways', 'v1.5.1')],
    }),
    is: 'warning',
    about: ['CustomResourceDefinition/httproutes.gateway.networking.k8s.io'],
    says: /the gateway of v3\.32\.1 needs v1\.5\.1/,
    hint: /Set spec\.crdManagement of GatewayAPI\/default to Reconcile/,
  },
  'passes with old definitions that the operator brings anew': {
    context,
    facts: operated({ gateways: [gateway({ crdManagement: 'Reconcile' })], gatewayDefinitions: [definition('httproutes', 'v1.2.1')] }),
    is: 'ok',
  },
  'passes with definitions that do not tell their bundle, or of a release of which none is known': {
    context: contextOf({ release: 'v3.31.2' }, calico),
    facts: operated({ gateways: [gateway({})], gatewayDefinitions: [definition('httproutes', 'v1.2.1')] }),
    is: 'ok',
  },
  'passes where nothing guards them': { context, facts: operated({ gateways: [gateway({})] }), is: 'ok' },
  'passes where the operator brings none': { context, facts: operated(), is: 'ok' },
  ...forOperators,
  ...byItsOwn('warning', 'gateways'),
});

checkCases('NS-627', {
  'warns where no API server is wanted: one status stays degraded, and the end is judged without it': {
    context,
    facts: operated({ components: [] }),
    is: 'warning',
    about: ['TigeraStatus/tiers'],
    says: /without APIServer\/default.* wait for v3\.32\.1 ignores it/,
  },
  'passes with an API server': { context, facts: operated(), is: 'ok' },
  ...forOperators,
  ...byItsOwn('warning', 'components'),
});
