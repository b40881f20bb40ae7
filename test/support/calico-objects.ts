import assert from 'node:assert/strict';
import { type Choice, detect } from '../../src/features/survey/detect.ts';
import type { Inventory } from '../../src/features/survey/inventory.ts';
import type { Detection, Installation } from '../../src/kernel/installation.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { PodFacts } from '../../src/kube/pod-facts.ts';
import { calico } from '../../src/profiles/calico.ts';
import { inventoryOfObjects, objectOf, workloadOf } from './inventory.ts';

export const KUBERNETES = { DATASTORE_TYPE: 'kubernetes' };
export const BIRD = { ...KUBERNETES, CALICO_NETWORKING_BACKEND: 'bird' };

type Parts = Partial<Parameters<typeof workloadOf>[2]>;

interface AgentParts extends Omit<Parts, 'images'> {
  readonly name?: string;
  readonly tag?: string;
  readonly image?: string;
  /** Images beside those of every agent. */
  readonly more?: Readonly<Record<string, string>>;
}

export function agent({ name = 'calico-node', tag = 'v3.27.5', image, more, ...parts }: AgentParts = {}) {
  const images = { 'calico-node': image ?? `quay.io/calico/node:${tag}`, 'init:install-cni': `quay.io/calico/cni:${tag}`, ...more };
  return workloadOf('DaemonSet', name, { env: BIRD, ...parts, images });
}

export const deployment = (name: string, image: string, parts: Parts = {}) =>
  workloadOf('Deployment', name, { images: { [name]: image }, ...parts });

export const configMap = (data: Readonly<Record<string, string>>, name = 'calico-config', namespace = 'kube-system') =>
  objectOf('v1', 'ConfigMap', name, { metadata: { namespace }, data });

export const controllers = (tag = 'v3.27.5') => deployment('calico-kube-controllers', `quay.io/calico/kube-controllers:${tag}`);
export const typha = (tag = 'v3.27.5') => deployment('calico-typha', `quay.io/calico/typha:${tag}`);
export const installation = (metadata: object = {}, status: object = {}) =>
  objectOf('operator.tigera.io/v1', 'Installation', 'default', { metadata, status });
export const operator = (parts: Parts = {}) =>
  deployment('tigera-operator', 'quay.io/tigera/operator:v1.32.12', { namespace: 'tigera-operator', ...parts });
export const operatedAgent = (parts: AgentParts = {}) => agent({ namespace: 'calico-system', ...parts });
export const information = (calicoVersion: string) =>
  objectOf('crd.projectcalico.org/v1', 'ClusterInformation', 'default', { spec: { calicoVersion } });

export function pod(name: string, image: string, namespace = 'kube-system'): PodFacts {
  return {
    ...{ uid: name, name, namespace, node: `node-of-${name}`, createdAt: 0 },
    images: { 'calico-node': image },
    ...{ readyContainers: 1, containers: 1, phase: 'Running', terminating: false, readyCondition: true },
  };
}

export function detectIn(objects: readonly KubeObject[], more: Partial<Inventory> = {}, choice?: Choice): Detection {
  return detect({ ...inventoryOfObjects(objects), ...more }, calico, choice);
}

export function foundIn(objects: readonly KubeObject[], more: Partial<Inventory> = {}, choice?: Choice): Installation {
  const detection = detectIn(objects, more, choice);
  assert.ok(detection.type === 'found', JSON.stringify(detection));
  return detection.installation;
}

export function unclearIn(objects: readonly KubeObject[], more: Partial<Inventory> = {}, choice?: Choice) {
  const detection = detectIn(objects, more, choice);
  assert.ok(detection.type === 'ambiguous', JSON.stringify(detection));
  return detection;
}

/** The object with the switch of the renaming, and the kind that it is of. */
export const configuration = objectOf('crd.projectcalico.org/v1', 'KubeControllersConfiguration', 'default', { spec: {} });
const names = { kind: 'KubeControllersConfiguration', plural: 'kubecontrollersconfigurations' };
export const configurationCrd = objectOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${names.plural}.crd.projectcalico.org`, {
  spec: { group: 'crd.projectcalico.org', names, scope: 'Cluster' },
});
