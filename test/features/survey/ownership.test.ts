import { repairCommand } from '../../../src/kernel/command.ts';
import type { ComponentVersion, ManagedBy } from '../../../src/kernel/installation.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { netsvc } from '../../../src/profiles/netsvc.ts';
import { contextOf, found, object } from '../../fixtures/facts.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { checkCases } from '../../support/judged-worlds.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const managed = (kind: ManagedBy['kind'], name: string) => ({
  detection: found({ managedBy: [{ kind, name, evidence: 'label', hint: `pause ${name}` }] }),
});

const marked = (path: 'operator' | 'chart' | 'manifest', kind: string) => {
  const object = kind === 'Installation' ? { kind, name: 'default' } : { kind, namespace: 'tigera-operator', name: 'tigera-operator' };
  const managedBy: readonly ManagedBy[] = [
    {
      name: 'Flux',
      kind: 'gitops',
      evidence: 'label',
      hint: 'pause',
      object,
      command: repairCommand`flux suspend kustomization infra -n flux-system`,
    },
  ];
  return { detection: found({ path, managedBy, operator: { namespace: 'tigera-operator', name: 'tigera-operator' } }) };
};

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
  'warns of a mark on what the operator’s upgrade does not write': { facts: marked('operator', 'Installation'), is: 'warning' },
  'fails with a mark on the operator’s Deployment': {
    facts: marked('operator', 'Deployment'),
    is: 'error',
    about: ['Deployment/tigera-operator/tigera-operator'],
  },
  'fails with a mark on the Installation, which a chart writes': { facts: marked('chart', 'Installation'), is: 'error' },
  'fails with a mark on what the full manifest writes': { facts: marked('manifest', 'DaemonSet'), is: 'error' },
});

const prunable = (path: 'operator' | 'chart' | 'manifest', crd = 'ippools.crd.projectcalico.org') => {
  const mark = { tool: 'Argo CD', mark: 'a label', keep: 'argocd.argoproj.io/sync-options=Prune=false' };
  return { detection: found({ path, prunableCrds: [{ crd, ...mark }] }) };
};

checkCases('NS-111', {
  'passes if no tool tracks them': { facts: { detection: found({ path: 'operator' }) }, is: 'ok' },
  'fails where the operator’s manifest no longer has them': {
    facts: prunable('operator'),
    is: 'error',
    about: ['CustomResourceDefinition/ippools.crd.projectcalico.org'],
  },
  'fails where the chart no longer has them': { facts: prunable('chart'), is: 'error' },
  'passes with a full manifest, which has them': { facts: prunable('manifest'), is: 'ok' },
  'fails where the full manifest dropped one': {
    context: contextOf({}, calico),
    facts: prunable('manifest', 'adminnetworkpolicies.policy.networking.k8s.io'),
    is: 'error',
    about: ['CustomResourceDefinition/adminnetworkpolicies.policy.networking.k8s.io'],
  },
});

checkCases('NS-105', {
  'passes from the oldest supported release on': { facts: { detection: found({ release: 'v3.15.0' }) }, is: 'ok' },
  'fails below': { facts: { detection: found({ release: 'v3.14.2' }) }, is: 'error', says: /v3\.14\.2/ },
  'fails if the release is not known': {
    facts: { detection: found({ release: undefined }) },
    is: 'error',
    about: ['DaemonSet/kube-system/calico-node'],
  },
  'is content with a known minor line': { facts: { detection: found({ release: undefined, line: 'v3.20' }) }, is: 'ok' },
});

checkCases('NS-106', {
  'passes if the target is newer': { is: 'ok' },
  'passes if it is the same': { facts: { detection: found({ release: CALICO_TARGET }) }, is: 'ok' },
  'fails if it is older': { context: contextOf({ release: 'v3.27.0' }), is: 'error', next: /v3\.27\.5/ },
  'does not apply if the release is not known': { facts: { detection: found({ release: undefined }) }, is: 'not-applicable' },
});

const mixed = (component: string, workload: string): { readonly detection: ReturnType<typeof found> } => {
  const version: ComponentVersion = { component, workload, container: 'c', image: 'x:v3.30.0', release: 'v3.30.0' };
  return { detection: found({ mixed: [version] }) };
};
const typha = 'Deployment/kube-system/calico-typha';
const running = { clusterUid: 'cluster-1', intent: upgradeTo(CALICO_TARGET) } as RunRecord;

const runningImage = (image: string) => ({
  detection: found({
    components: [{ component: 'controllers', workload: 'Deployment/kube-system/calico-kube-controllers', container: 'c', image }],
  }),
});

const operatedBy = (image: string, env: readonly object[] = []) => {
  const containers = [{ name: 'tigera-operator', image, env }];
  const deployment = object('apps/v1', 'Deployment/tigera-operator/tigera-operator', { spec: { template: { spec: { containers } } } });
  const operator = { namespace: 'tigera-operator', name: 'tigera-operator' };
  return { detection: found({ path: 'operator', variant: undefined, operator }), deployments: { value: [deployment] } };
};

checkCases('NS-107', {
  'passes if all are of one release': { is: 'ok' },
  'fails if a component is not': { facts: mixed('typha', typha), is: 'error', about: [typha] },
  'only warns about an add-on': { facts: mixed('apiserver', 'Deployment/calico-apiserver/calico-apiserver'), is: 'warning' },
  'does not compare what is numbered on its own': { facts: mixed('flannel', 'DaemonSet/kube-system/canal'), is: 'ok' },
  'warns where the release of the operator is not known': {
    facts: operatedBy('registry.example.org/operator:latest'),
    is: 'warning',
    about: ['Deployment/tigera-operator/tigera-operator'],
    says: /the release of the operator is not known: .* has the image registry\.example\.org\/operator:latest/,
  },
  'passes where its tag says it': { facts: operatedBy('quay.io/tigera/operator:v1.32.12'), is: 'ok' },
  'passes where only its variable says it': {
    facts: operatedBy(`quay.io/tigera/operator@sha256:${'0'.repeat(64)}`, [
      { name: 'TIGERA_OPERATOR_INIT_IMAGE_VERSION', value: 'v1.32.12' },
    ]),
    is: 'ok',
  },
  'warns where nothing is known of the line of the operator': {
    facts: operatedBy('quay.io/tigera/operator:v1.99.2'),
    is: 'warning',
    says: /the release of the operator is not known: .*v1\.99\.2/,
  },
  'passes where the profile knows no releases of operators': {
    context: contextOf({}, netsvc),
    facts: operatedBy('registry.netsvc.io/netsvc/operator:v3.26.4'),
    is: 'ok',
  },
  'warns of a tag that is no release': {
    facts: runningImage('quay.io/calico/kube-controllers:stable'),
    is: 'warning',
    about: ['Deployment/kube-system/calico-kube-controllers'],
    details: [/^c: quay\.io\/calico\/kube-controllers:stable$/],
    says: /1 image whose tag is no release/,
  },
  'passes with a digest, which names one image': {
    facts: runningImage(`quay.io/calico/kube-controllers@sha256:${'0'.repeat(64)}`),
    is: 'ok',
  },
  'expects it of an interrupted run': { facts: { ...mixed('typha', typha), record: { value: running } }, is: 'expected' },
  'does not expect it of a run to another release': {
    facts: { ...mixed('typha', typha), record: { value: { ...running, intent: upgradeTo('v3.30.0') } } },
    is: 'error',
  },
});
