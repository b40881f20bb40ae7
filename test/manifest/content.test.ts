import assert from 'node:assert/strict';
import { contentText } from '../../src/features/install-manifest/outcome.ts';
import type { KubeObject } from '../../src/kernel/object.ts';

const base: KubeObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'd', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, annotations: { team: 'a' } },
  spec: { replicas: 1, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } } },
  status: { readyReplicas: 1 },
};
const scaled = [
  { manager: 'kube-controller-manager', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
];
const role: KubeObject = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r' },
  aggregationRule: {},
  rules: [],
};

describe('the content of an object', () => {
  const same: readonly (readonly [string, KubeObject, KubeObject])[] = [
    ['its status', base, { ...base, status: { readyReplicas: 0 } }],
    [
      'writes of the server',
      base,
      { ...base, metadata: { ...base.metadata, resourceVersion: '9', generation: 4, managedFields: scaled.slice(1) } },
    ],
    ['the order of fields', base, { status: {}, spec: base.spec, metadata: base.metadata, kind: base.kind, apiVersion: base.apiVersion }],
    [
      'revision counters',
      base,
      { ...base, metadata: { ...base.metadata, annotations: { team: 'a', 'deployment.kubernetes.io/revision': '4' } } },
    ],
    ['owner references, which the upgrade itself removes', base, { ...base, metadata: { ...base.metadata, ownerReferences: [] } }],
    [
      'what an autoscaler sets',
      { ...base, metadata: { ...base.metadata, managedFields: scaled } },
      { ...base, metadata: { ...base.metadata, managedFields: scaled }, spec: { ...(base.spec as object), replicas: 7 } },
    ],
    ['rules that are gathered from other roles', role, { ...role, rules: [{ verbs: ['get'] }] }],
  ];
  for (const [title, a, b] of same) it(`does not depend on ${title}`, () => assert.equal(contentText(a), contentText(b)));

  const other: readonly (readonly [string, KubeObject])[] = [
    ['a label', { ...base, metadata: { ...base.metadata, labels: { x: 'y' } } }],
    ['an annotation', { ...base, metadata: { ...base.metadata, annotations: { team: 'b' } } }],
    ['a number of replicas that a person sets', { ...base, spec: { ...(base.spec as object), replicas: 7 } }],
  ];
  for (const [title, changed] of other) it(`changes with ${title}`, () => assert.notEqual(contentText(base), contentText(changed)));

  it('is never told of a Secret', () => {
    assert.equal(contentText({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { k: 'dg==' } }), undefined);
  });
});
