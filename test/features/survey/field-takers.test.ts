import assert from 'node:assert/strict';
import { takersOf, writerBehind, writesAgain } from '../../../src/features/survey/field-takers.ts';
import type { KubeObject, ObjectMeta } from '../../../src/kernel/object.ts';
import { plainText } from '../../../src/kernel/step.ts';

const object = (metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', ...metadata },
});

interface Case {
  readonly manager: string;
  readonly subresource?: string;
  readonly metadata?: Partial<ObjectMeta>;
  readonly is: string;
  readonly hint: RegExp;
}

const cases: readonly Case[] = [
  { manager: 'argocd-controller', is: 'gitops Argo CD', hint: /argocd app set APPLICATION --sync-policy none/ },
  {
    manager: 'argocd-application-controller',
    metadata: { labels: { 'argocd.argoproj.io/instance': 'network' } },
    is: 'gitops Argo CD',
    hint: /argocd app set network /,
  },
  {
    manager: 'kustomize-controller',
    metadata: { labels: { 'kustomize.toolkit.fluxcd.io/name': 'cni', 'kustomize.toolkit.fluxcd.io/namespace': 'infra' } },
    is: 'gitops Flux',
    hint: /flux suspend kustomization cni -n infra/,
  },
  { manager: 'helm-controller', is: 'gitops Flux', hint: /flux suspend helmrelease/ },
  { manager: 'kube-controller-manager', subresource: 'scale', is: 'autoscaler a HorizontalPodAutoscaler', hint: /sets its number again/ },
  { manager: 'cluster-proportional-autoscaler', is: 'autoscaler cluster-proportional-autoscaler', hint: /sets its number again/ },
  { manager: 'vpa-updater', is: 'autoscaler a VerticalPodAutoscaler', hint: /sets its number again/ },
  { manager: 'vpa-recommender', is: 'autoscaler a VerticalPodAutoscaler', hint: /sets its number again/ },
  {
    manager: 'kubectl',
    subresource: 'scale',
    is: 'person kubectl scale',
    hint: /in a copy of the target manifest .* --upgrade-file/,
  },
  { manager: 'kubectl-create', is: 'person kubectl create', hint: /nothing sets it again/ },
  { manager: 'kubectl-edit', is: 'person kubectl', hint: /in a copy of the target manifest .* --upgrade-file/ },
  { manager: 'helm', is: 'other helm', hint: /next upgrade of its release/ },
  { manager: 'kube-controller-manager', is: 'other a controller of Kubernetes', hint: /whenever it runs/ },
  { manager: 'cert-manager-cainjector', is: 'other cert-manager', hint: /whenever it runs/ },
  { manager: 'istiod', is: 'other the mesh Istio', hint: /whenever it runs/ },
  { manager: 'acme-agent', is: 'other acme-agent', hint: /whenever it runs/ },
  { manager: '', is: 'other somebody who gave no name', hint: /whenever it runs/ },
];

describe('who is behind a field that an apply takes', () => {
  for (const { manager, subresource, metadata, is, hint } of cases)
    it(`is ${is} for the field manager "${manager}"${subresource ? ` through ${subresource}` : ''}`, () => {
      const taken = ['a', 'b'].map((path) => ({ path, manager, ...(subresource ? { subresource } : {}) }));
      const [taker, ...more] = takersOf(object(metadata), taken, true);
      assert.deepEqual(more, []);
      assert.equal(`${taker?.kind} ${taker?.name}`, is);
      assert.deepEqual([taker?.manager, taker?.fields], [manager, 2]);
      assert.match(plainText(taker?.hint ?? ''), hint);
    });

  it('writes again on its own as a controller does, by its field manager; nobody does by what it is called', () => {
    const own = ['cert-manager-cainjector', 'istiod', 'kube-controller-manager', 'kyverno-background', 'vpa-updater'];
    for (const manager of own) assert.ok(writerBehind({ manager }), manager);
    // The last two are called as rows are, and are known by no sign.
    const others = ['helm', 'kubectl-edit', 'acme-agent', '', 'the mesh Istio', 'cert-manager'];
    for (const manager of others) assert.equal(writerBehind({ manager }), undefined, manager);
    for (const manager of [...own, ...others]) {
      const [taker] = takersOf(object(), [{ path: 'a', manager }], true);
      assert.equal(taker && writesAgain(taker), own.includes(manager), manager);
    }
  });

  it('is told apart by the subresource', () => {
    const takers = takersOf(
      object(),
      [
        { path: 'spec.replicas', manager: 'kube-controller-manager', subresource: 'scale' },
        { path: 'spec.paused', manager: 'kube-controller-manager' },
      ],
      true,
    );
    assert.deepEqual(
      takers.map(({ kind }) => kind),
      ['autoscaler', 'other'],
    );
  });

  it('is a delivery tool too whose mark alone is on an object that changes, and nobody on one that stays', () => {
    const marked = object({ annotations: { 'argocd.argoproj.io/tracking-id': 'net:apps/Deployment:n/d' } });
    assert.deepEqual(
      takersOf(marked, [], true).map(({ name, fields, manager }) => [name, fields, manager]),
      [['Argo CD', 0, undefined]],
    );
    assert.deepEqual(takersOf(marked, [], false), []);
  });
});
