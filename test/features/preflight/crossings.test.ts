import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, found, object, resource, resources } from '../../fixtures/facts.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { API, byItsOwn, context, forOperators, operated } from '../../support/operated-facts.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const IMAGES = ['node', 'cni', 'pod2daemon-flexvol', 'typha', 'csi', 'node-driver-registrar', 'kube-controllers'].map(
  (one) => `calico/${one}`,
);
const set = (name: string, images: readonly string[] = IMAGES) =>
  object(API, `ImageSet/${name}`, { spec: { images: images.map((image) => ({ image, digest })) } });

checkCases('NS-622', {
  'fails where images are pinned for the old release only': {
    context,
    facts: operated({ imageSets: [set('calico-v3.27.5'), set('enterprise-v3.19')] }),
    is: 'error',
    about: ['ImageSet/calico-v3.27.5'],
    says: pattern`stays degraded without ImageSet/calico-${CALICO_TARGET}`,
    next: /plan -o images$/,
  },
  'passes with the set of the target': {
    context,
    facts: operated({ imageSets: [set('calico-v3.27.5'), set(`calico-${CALICO_TARGET}`)] }),
    is: 'ok',
  },
  'fails where the set of the target has the names of a mirror': {
    context,
    facts: operated({ imageSets: [set(`calico-${CALICO_TARGET}`, [...IMAGES, 'mirror/calico-node', 'apiserver'])] }),
    is: 'error',
    about: [`ImageSet/calico-${CALICO_TARGET}`, `ImageSet/calico-${CALICO_TARGET}`],
    says: pattern`stays degraded with ImageSet/calico-${CALICO_TARGET}`,
    hint: /such as calico\/node/,
  },
  'fails where the set of the target lacks an image': {
    context: contextOf({ release: 'v3.32.1' }, calico),
    facts: operated({ imageSets: [set('calico-v3.32.1', IMAGES.slice(1))] }),
    is: 'error',
    about: ['ImageSet/calico-v3.32.1'],
    says: /as it is now/,
  },
  'fails where a set of the target lists nothing': {
    context: contextOf({ release: 'v3.32.1' }, calico),
    facts: operated({ imageSets: [object(API, 'ImageSet/calico-v3.32.1')] }),
    is: 'error',
    says: /as it is now/,
  },
  'does not know the images of a release with others': {
    context: contextOf({ release: 'v3.33.0' }, calico),
    facts: operated({ imageSets: [set('calico-v3.33.0', ['calico/calico', 'calico/node', 'tigera/operator'])] }),
    is: 'ok',
  },
  'passes where nothing is pinned': { context, facts: operated({ imageSets: [set('enterprise-v3.19')] }), is: 'ok' },
  ...forOperators,
  ...byItsOwn('error', 'imageSets'),
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
    fix: /kubectl edit gatewayapis\.operator\.tigera\.io default/,
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
    says: pattern`the gateway of ${CALICO_TARGET} needs v1\.5\.1`,
    hint: /Set spec\.crdManagement of GatewayAPI\/default to Reconcile/,
  },
  'warns of a bundle that is no release': {
    context,
    facts: operated({ gateways: [gateway({})], gatewayDefinitions: [definition('httproutes', 'main'), definition('gateways', 'v1.2')] }),
    is: 'warning',
    details: [/^bundle main$/, /^bundle v1\.2$/],
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
    says: pattern`without APIServer/default.* wait for ${CALICO_TARGET} ignores it`,
  },
  'passes with an API server': { context, facts: operated(), is: 'ok' },
  ...forOperators,
  ...byItsOwn('warning', 'components'),
});
