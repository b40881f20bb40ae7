import type { KubeObject } from '../../kernel/object.ts';
import { type LabelSelector, selects } from '../../kube/selector.ts';
import type { GlobalPolicy } from './global-policy.ts';
import { type Labels, matches, type Selector } from './selector.ts';
import { storedSelector } from './stored-selector.ts';

/** Pods of one namespace on which one of the policies is in force and other policies as well. */
export interface NamespaceWithout {
  readonly namespace: string;
  readonly pods: number;
  /** Names of the policies that would decide alone. */
  readonly policies: readonly string[];
}

export interface WorkloadFacts {
  /** Pods with labels; their namespaces with theirs. */
  readonly pods: readonly KubeObject[];
  readonly namespaces: readonly KubeObject[];
  readonly globalPolicies: readonly GlobalPolicy[];
  /** The service's own policies of namespaces. */
  readonly policies: readonly KubeObject[];
  /** Kubernetes' own. */
  readonly networkPolicies: readonly KubeObject[];
  readonly apiGroup: string;
}

/**
 * What becomes of pods without these policies: where no other policy selects them they stay open, as pods are; where others do, these decide
 * alone. By namespace, since a cluster has thousands of pods. Selectors of service accounts count as matching: too much is said rather
 * than too little.
 */
export function workloadsWithout(gone: readonly GlobalPolicy[], facts: WorkloadFacts): readonly NamespaceWithout[] {
  const labelsOf = new Map(facts.namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  const own = facts.policies.map((one) => ({
    namespace: one.metadata.namespace ?? '',
    name: one.metadata.name,
    selector: selectorIn(one),
  }));
  const goneNames = new Set(gone.map(({ name }) => name));
  const others = facts.globalPolicies.filter(({ name }) => !goneNames.has(name));
  const found = new Map<string, { pods: number; policies: Set<string> }>();
  for (const { metadata } of facts.pods) {
    const namespace = metadata.namespace ?? '';
    const labels = podLabels(metadata.labels ?? {}, namespace, facts.apiGroup);
    const around = labelsOf.get(namespace) ?? {};
    if (!gone.some((one) => reaches(one, labels, around))) continue;
    const names = [
      ...others.filter((one) => reaches(one, labels, around)).map(({ name }) => name),
      ...own.filter((one) => one.namespace === namespace && matches(one.selector, labels)).map(({ name }) => `${namespace}/${name}`),
      ...facts.networkPolicies
        .filter((one) => one.metadata.namespace === namespace && selects(podSelector(one), metadata.labels ?? {}))
        .map((one) => `${namespace}/${one.metadata.name}`),
    ];
    if (names.length === 0) continue;
    const entry = found.get(namespace) ?? { pods: 0, policies: new Set() };
    entry.pods += 1;
    for (const name of names) entry.policies.add(name);
    found.set(namespace, entry);
  }
  return [...found].map(([namespace, { pods, policies }]) => ({ namespace, pods, policies: [...policies].sort() }));
}

/** Pods with labels; their namespaces with theirs. */
export type PodsAndNamespaces = Pick<WorkloadFacts, 'pods' | 'namespaces' | 'apiGroup'>;

/** How many pods are subject to a policy of the service. Selectors of service accounts count as matching. */
export function podReach({ pods, namespaces, apiGroup }: PodsAndNamespaces) {
  const labelsOf = new Map(namespaces.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]));
  const known = pods.map(({ metadata: { labels = {}, namespace = '' } }) => ({
    namespace,
    labels: podLabels(labels, namespace, apiGroup),
    around: labelsOf.get(namespace) ?? {},
  }));
  return {
    /** Of several global policies of one name. */
    global: (policies: readonly GlobalPolicy[]): number =>
      known.filter(({ labels, around }) => policies.some((one) => reaches(one, labels, around))).length,
    namespaced: (policy: KubeObject): number => {
      const selector = selectorIn(policy);
      return known.filter(({ namespace, labels }) => namespace === policy.metadata.namespace && matches(selector, labels)).length;
    },
  };
}

/** Labels that the service gives every pod besides its own. */
function podLabels(labels: Labels, namespace: string, apiGroup: string): Labels {
  return { ...labels, [`${apiGroup}/namespace`]: namespace, [`${apiGroup}/orchestrator`]: 'k8s' };
}

function reaches({ selector, namespaceSelector }: GlobalPolicy, labels: Labels, namespaceLabels: Labels): boolean {
  return matches(selector, labels) && (namespaceSelector === undefined || matches(namespaceSelector, namespaceLabels));
}

function selectorIn(policy: KubeObject): Selector {
  return storedSelector(policy, 'selector', (policy.spec as { readonly selector?: string } | undefined)?.selector ?? '');
}

function podSelector(policy: KubeObject): LabelSelector {
  return (policy.spec as { readonly podSelector?: LabelSelector } | undefined)?.podSelector ?? {};
}
