import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../src/kernel/object.ts';
import { objectOf } from './inventory.ts';
import { manifestFile, ownReleases } from './releases.ts';
import { NETSVC_TARGET } from './target.ts';

/** An operator under the names of the document: what its releases publish, and what it makes of them. */
export const [SOURCE, TARGET] = ['v3.26.4', NETSVC_TARGET] as const;
export const [SOURCE_OPERATOR, TARGET_OPERATOR] = ['v1.8.3', 'v1.14.0'] as const;
export const OPERATORS: Readonly<Record<string, string>> = { [SOURCE]: SOURCE_OPERATOR, [TARGET]: TARGET_OPERATOR };
export const SPACE = 'netsvc-operator';
export const SYSTEM = 'netsvc-system';
export const CRD_FILE = 'v1_crd_netsvc_io.yaml';
export const OPERATOR_FILE = 'netsvc-operator.yaml';
export const REGISTRY = 'registry.netsvc.io/netsvc';
export const operatorImage = (release: string): string => `${REGISTRY}/operator:${OPERATORS[release]}`;

/** Writes the files of both releases that an operator's installation needs. Returns the folder. */
export function writeOperatedReleases(parent: string): string {
  const folder = join(parent, 'operated');
  const definitions = readFileSync(manifestFile(TARGET, CRD_FILE, ownReleases), 'utf8');
  for (const release of [SOURCE, TARGET]) {
    write(manifestFile(release, CRD_FILE, folder), `${definitions.trimEnd()}\n${operatorDefinitions}`);
    write(manifestFile(release, OPERATOR_FILE, folder), operatorManifest(release));
  }
  return folder;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const definition = (kind: string, plural: string) => `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: ${plural}.operator.netsvc.io }
spec:
  group: operator.netsvc.io
  scope: Cluster
  names: { kind: ${kind}, listKind: ${kind}List, plural: ${plural}, singular: ${kind.toLowerCase()} }
  versions:
    - name: v1
      served: true
      storage: true
      subresources: { status: {} }
      schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } }
`;

const operatorDefinitions = definition('Installation', 'installations');

function operatorManifest(release: string): string {
  return `apiVersion: v1
kind: Namespace
metadata: { name: ${SPACE}, labels: { name: ${SPACE} } }
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: ${SPACE}, namespace: ${SPACE} }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: ${SPACE} }
rules: [{ apiGroups: [operator.netsvc.io], resources: ["*"], verbs: ["*"] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: ${SPACE} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: ${SPACE} }
subjects: [{ kind: ServiceAccount, name: ${SPACE}, namespace: ${SPACE} }]
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: ${SPACE}, namespace: ${SPACE}, labels: { k8s-app: ${SPACE} } }
spec:
  replicas: 1
  selector: { matchLabels: { name: ${SPACE} } }
  template:
    metadata: { labels: { name: ${SPACE}, k8s-app: ${SPACE} } }
    spec:
      serviceAccountName: ${SPACE}
      containers:
        - name: ${SPACE}
          image: ${operatorImage(release)}
          args: ["-manage-crds=true"]
`;
}

/** What the operator makes. The agents have the two containers of the document's READY column. */
export function components(release: string, owner: KubeObject['metadata'] & { readonly uid: string }): readonly KubeObject[] {
  const { name, uid } = owner;
  const ownerReferences = [{ apiVersion: 'operator.netsvc.io/v1', kind: 'Installation', name, uid, controller: true }];
  const workload = (kind: 'DaemonSet' | 'Deployment', own: string, images: Readonly<Record<string, string>>): KubeObject => {
    const labels = { 'k8s-app': own };
    const containers = Object.entries(images).map(([container, image]) => ({ name: container, image: `${REGISTRY}/${image}:${release}` }));
    const env = [{ name: 'DATASTORE_TYPE', value: 'kubernetes' }];
    const pod = { containers: containers.map((one, at) => (at === 0 ? { ...one, env } : one)), tolerations: [{ operator: 'Exists' }] };
    const spec = { ...(kind === 'Deployment' ? { replicas: 1 } : {}), selector: { matchLabels: labels } };
    return objectOf('apps/v1', kind, own, {
      metadata: { namespace: SYSTEM, labels, ownerReferences },
      spec: { ...spec, template: { metadata: { labels }, spec: pod } },
    });
  };
  return [
    workload('DaemonSet', 'netsvc-node', { 'netsvc-node': 'node', 'netsvc-routes': 'routes' }),
    workload('Deployment', 'netsvc-kube-controllers', { 'netsvc-kube-controllers': 'kube-controllers' }),
    workload('Deployment', 'netsvc-apiserver', { 'netsvc-apiserver': 'apiserver' }),
  ];
}

/** The v3 API, and the Service before its pods. */
export const api: readonly KubeObject[] = [
  objectOf('v1', 'Service', 'netsvc-api', {
    metadata: { namespace: SYSTEM },
    spec: { selector: { 'k8s-app': 'netsvc-apiserver' }, ports: [{ port: 443, targetPort: 5443 }] },
  }),
  objectOf('apiregistration.k8s.io/v1', 'APIService', 'v3.netsvc.io', {
    spec: {
      ...{ group: 'netsvc.io', version: 'v3', groupPriorityMinimum: 1500, versionPriority: 200, insecureSkipTLSVerify: true },
      service: { namespace: SYSTEM, name: 'netsvc-api' },
    },
  }),
];
