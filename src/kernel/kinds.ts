import { Fault } from './fault.ts';
import { groupOf, type Kind, type ObjectRef } from './object.ts';
import type { ClusterReader } from './ports.ts';
import { AGAIN, text } from './step.ts';

function kind(group: string, version: string, name: string, plural: string, namespaced: boolean): Kind {
  return { group, version, kind: name, plural, namespaced };
}

/** The built-in resources that this program reads or writes by itself. */
export const K = {
  Namespace: kind('', 'v1', 'Namespace', 'namespaces', false),
  Node: kind('', 'v1', 'Node', 'nodes', false),
  Pod: kind('', 'v1', 'Pod', 'pods', true),
  Event: kind('', 'v1', 'Event', 'events', true),
  ConfigMap: kind('', 'v1', 'ConfigMap', 'configmaps', true),
  Secret: kind('', 'v1', 'Secret', 'secrets', true),
  Service: kind('', 'v1', 'Service', 'services', true),
  EndpointSlice: kind('discovery.k8s.io', 'v1', 'EndpointSlice', 'endpointslices', true),
  ServiceAccount: kind('', 'v1', 'ServiceAccount', 'serviceaccounts', true),
  DaemonSet: kind('apps', 'v1', 'DaemonSet', 'daemonsets', true),
  ReplicaSet: kind('apps', 'v1', 'ReplicaSet', 'replicasets', true),
  StatefulSet: kind('apps', 'v1', 'StatefulSet', 'statefulsets', true),
  Deployment: kind('apps', 'v1', 'Deployment', 'deployments', true),
  NetworkPolicy: kind('networking.k8s.io', 'v1', 'NetworkPolicy', 'networkpolicies', true),
  CronJob: kind('batch', 'v1', 'CronJob', 'cronjobs', true),
  Job: kind('batch', 'v1', 'Job', 'jobs', true),
  HorizontalPodAutoscaler: kind('autoscaling', 'v2', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', true),
  PodDisruptionBudget: kind('policy', 'v1', 'PodDisruptionBudget', 'poddisruptionbudgets', true),
  ClusterRole: kind('rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles', false),
  ClusterRoleBinding: kind('rbac.authorization.k8s.io', 'v1', 'ClusterRoleBinding', 'clusterrolebindings', false),
  Role: kind('rbac.authorization.k8s.io', 'v1', 'Role', 'roles', true),
  RoleBinding: kind('rbac.authorization.k8s.io', 'v1', 'RoleBinding', 'rolebindings', true),
  CustomResourceDefinition: kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', false),
  ValidatingWebhookConfiguration: kind(
    'admissionregistration.k8s.io',
    'v1',
    'ValidatingWebhookConfiguration',
    'validatingwebhookconfigurations',
    false,
  ),
  MutatingWebhookConfiguration: kind(
    'admissionregistration.k8s.io',
    'v1',
    'MutatingWebhookConfiguration',
    'mutatingwebhookconfigurations',
    false,
  ),
  APIService: kind('apiregistration.k8s.io', 'v1', 'APIService', 'apiservices', false),
  Lease: kind('coordination.k8s.io', 'v1', 'Lease', 'leases', true),
  SelfSubjectAccessReview: kind('authorization.k8s.io', 'v1', 'SelfSubjectAccessReview', 'selfsubjectaccessreviews', false),
} as const;

/** True of a group, and of a kind written `plural.group`, where that is the very group: `crd.x.org` is not `x.org`. */
export function isOfGroup(text: string, group: string): boolean {
  return text === group || text.slice(text.indexOf('.') + 1) === group;
}

/** The resource behind an object's apiVersion and kind. Throws Fault('failed') if the server does not serve it. */
export async function servedKind(cluster: Pick<ClusterReader, 'resolve'>, { apiVersion, kind }: ObjectRef): Promise<Kind> {
  const served = await cluster.resolve(apiVersion, kind);
  if (!served)
    throw new Fault('failed', `the API server does not serve ${kind} in group ${groupOf(apiVersion) || 'core'}`, [
      text`look at its APIService or CustomResourceDefinition, then ${AGAIN}`,
    ]);
  return served;
}

/** The same, each looked up once. */
export function kindsOf(cluster: Pick<ClusterReader, 'resolve'>): (ref: ObjectRef) => Promise<Kind> {
  const kinds = new Map<string, Promise<Kind>>();
  return (ref) => {
    const key = `${ref.apiVersion}|${ref.kind}`;
    const kind = kinds.get(key) ?? servedKind(cluster, ref);
    kinds.set(key, kind);
    return kind;
  };
}
