import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { moveNamespace } from '../../src/manifest/move-namespace.ts';

const MOVE = { from: 'tigera-operator', to: 'net-ops' };
const one = (text: string): KubeObject => parseManifest(text, 'file').documents[0]?.object ?? assert.fail();
const movedText = (text: string) => moveNamespace(one(text), MOVE);

describe('a namespace of another name', () => {
  it('is put where an object lives and where a binding names an account, and nowhere a name is only spelled like it', () => {
    const { object, places, unclear } = movedText(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: tigera-operator, namespace: tigera-operator, labels: { k8s-app: tigera-operator } }
subjects: [{ kind: ServiceAccount, name: tigera-operator, namespace: tigera-operator }, { kind: ServiceAccount, name: x, namespace: other }]
roleRef: { kind: ClusterRole, name: tigera-operator, apiGroup: rbac.authorization.k8s.io }
`);
    assert.deepEqual(places, ['metadata.namespace', 'subjects[ServiceAccount/net-ops/tigera-operator].namespace']);
    assert.deepEqual(object.metadata, { name: 'tigera-operator', namespace: 'net-ops', labels: { 'k8s-app': 'tigera-operator' } });
    assert.deepEqual(object.subjects, [
      { kind: 'ServiceAccount', name: 'tigera-operator', namespace: 'net-ops' },
      { kind: 'ServiceAccount', name: 'x', namespace: 'other' },
    ]);
    assert.equal(unclear, undefined);
  });

  it('is the name of its Namespace; its labels are anybody’s', () => {
    const { object, places } = movedText(
      '{apiVersion: v1, kind: Namespace, metadata: {name: tigera-operator, labels: {name: tigera-operator}}}',
    );
    assert.deepEqual(object.metadata, { name: 'net-ops', labels: { name: 'tigera-operator' } });
    assert.deepEqual(places, ['metadata.name']);
  });

  it('is told to the program whose variable names it, and its own name stays', () => {
    const { object, places } = movedText(`
apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: net-ops }
spec:
  template:
    spec:
      containers:
        - name: tigera-operator
          env: [{ name: OPERATOR_NAMESPACE, value: tigera-operator }, { name: OPERATOR_NAME, value: tigera-operator }]
`);
    assert.deepEqual(places, ['spec.template.spec.containers[tigera-operator].env[OPERATOR_NAMESPACE].value']);
    assert.match(JSON.stringify(object), /"OPERATOR_NAMESPACE","value":"net-ops".*"OPERATOR_NAME","value":"tigera-operator"/);
  });

  it('is not looked for in definitions, and another Namespace stays', () => {
    const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'x' } };
    const whole = { ...definition, spec: { namespace: 'tigera-operator' } };
    assert.equal(moveNamespace(whole, MOVE).object, whole);
    assert.deepEqual(movedText('{apiVersion: v1, kind: Namespace, metadata: {name: other}}').places, []);
  });

  for (const text of ['calico.tigera-operator.svc:443', 'tigera-operator/operator-lock', '--namespace=tigera-operator'])
    it(`is not clear within a text: ${text}`, () => {
      const { unclear } = movedText(
        `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: tigera-operator}, data: {at: "${text}"}}`,
      );
      assert.equal(unclear, 'data.at');
    });

  it('is not clear in a list of namespaces', () => {
    const { unclear } = movedText('{apiVersion: v1, kind: X, metadata: {name: c}, spec: {namespaces: [tigera-operator]}}');
    assert.equal(unclear, 'spec.namespaces');
  });
});
