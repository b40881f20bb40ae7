import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { formerOf, withFormer } from '../../src/manifest/carried-file.ts';
import { identityOf } from '../../src/manifest/prepare.ts';

const GROUPS: Readonly<Record<string, string>> = {
  APIService: 'apiregistration.k8s.io/v1',
  ClusterRole: 'rbac.authorization.k8s.io/v1',
  ClusterRoleBinding: 'rbac.authorization.k8s.io/v1',
  CustomResourceDefinition: 'apiextensions.k8s.io/v1',
  MutatingWebhookConfiguration: 'admissionregistration.k8s.io/v1',
  Namespace: 'v1',
  Role: 'rbac.authorization.k8s.io/v1',
  RoleBinding: 'rbac.authorization.k8s.io/v1',
  Secret: 'v1',
  ValidatingWebhookConfiguration: 'admissionregistration.k8s.io/v1',
};
const PLACED = ['ConfigMap', 'Role', 'RoleBinding', 'Secret'];

const object = (kind: string, value: string, name = 'own'): KubeObject => ({
  ...{ apiVersion: GROUPS[kind] ?? 'v1', kind },
  metadata: { name, ...(PLACED.includes(kind) ? { namespace: 'kube-system' } : {}) },
  ...{ data: { value }, spec: { value } },
});

const KINDS = Object.keys(GROUPS);
const released = ['ConfigMap', ...KINDS].map((kind) => object(kind, 'released'));
const edited = ['ConfigMap', ...KINDS].map((kind) => object(kind, 'mine'));

describe('what an upgrade keeps of the former objects', () => {
  it('has no roles, webhooks, namespaces or API services, and no value of a Secret', () => {
    const { changed, removed } = formerOf('v1.0.0', released, edited);
    assert.deepEqual([changed.map(({ kind }) => kind), removed], [['ConfigMap'], []]);
    assert.deepEqual(formerOf('v1.0.0', released, []).removed.length, 1, 'that such an object is not there is not kept either');
  });

  it('gives back such objects as released, and none that the release has not, whatever somebody has put into it', () => {
    const back = withFormer(released, { changed: [...edited, object('ConfigMap', 'planted', 'another')], removed: [] });
    const mine = ({ data }: KubeObject) => JSON.stringify(data) === '{"value":"mine"}';
    assert.deepEqual([back.filter(mine).map(({ kind }) => kind), back.length], [['ConfigMap'], released.length]);
    const left = withFormer(released, { changed: [], removed: released.map(identityOf) });
    assert.deepEqual(
      left.map(({ kind }) => kind),
      KINDS,
    );
  });
});
