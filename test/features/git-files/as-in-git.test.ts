import assert from 'node:assert/strict';
import { asInGit, ofTenant } from '../../../src/features/git-files/content.ts';

describe('an object as Git holds it', () => {
  it('has nothing that the cluster or a tool wrote', () => {
    const live = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name: 'node',
        namespace: 'kube-system',
        uid: 'u',
        resourceVersion: '7',
        generation: 3,
        creationTimestamp: '2026-01-01T00:00:00Z',
        managedFields: [{ manager: 'kubectl' }],
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' }],
        labels: { 'k8s-app': 'node', 'argocd.argoproj.io/instance': 'net', 'kustomize.toolkit.fluxcd.io/name': 'net' },
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'argocd.argoproj.io/sync-options': 'Prune=false' },
      },
      spec: { template: {} },
      status: { numberReady: 1 },
    };
    assert.deepEqual(asInGit(live), {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: {
        name: 'node',
        namespace: 'kube-system',
        labels: { 'k8s-app': 'node' },
        annotations: { 'argocd.argoproj.io/sync-options': 'Prune=false' },
      },
      spec: { template: {} },
    });
  });

  it('has of a tenant no annotation, as those steer the tool that applies it, and none of its variables are filled in', () => {
    const policy = (selector: string) => ({
      ...{ apiVersion: 'projectcalico.org/v3', kind: 'NetworkPolicy', spec: { selector } },
      metadata: {
        ...{ name: 'a', namespace: 'shop', annotations: { 'config.kubernetes.io/function': 'evil', 'helm.sh/hook': 'x' } },
        labels: { app: 'a', 'kustomize.toolkit.fluxcd.io/force': 'enabled', 'argocd.argoproj.io/instance': 'x' },
      },
    });
    assert.deepEqual(ofTenant(policy('all()')).metadata, { name: 'a', namespace: 'shop', labels: { app: 'a' } });
    assert.deepEqual(ofTenant(policy(`x == '\${cluster_token}'`)).metadata.annotations, {
      'kustomize.toolkit.fluxcd.io/substitute': 'disabled',
    });
  });

  it('has no empty labels or annotations', () => {
    const metadata = { name: 'a', labels: {}, annotations: { 'argocd.argoproj.io/tracking-id': 'x' } };
    assert.deepEqual(asInGit({ apiVersion: 'v1', kind: 'ConfigMap', metadata }).metadata, { name: 'a' });
  });
});
