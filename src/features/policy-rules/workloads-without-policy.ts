import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type LabelSelector, selects } from '../../kube/selector.ts';
import { type GlobalPolicy, labelPrefixes, labelsGiven } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { inherited, type PolicyWorld } from './posture.ts';
import type { ChangedPolicy } from './rule-changes.ts';
import { mayMatch, type Selector } from './selector.ts';
import { storedSelector } from './stored-selector.ts';

/** Pods of one namespace on which one of the policies is in force and other policies as well. */
interface NamespaceWithout {
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
  readonly profile: Pick<Profile, 'apiGroup' | 'derivedProfiles'>;
}

/**
 * What happens to pods without these policies, by namespace: open where no other policy selects them, else those decide alone. Selection by
 * a service account counts as selected, to report too much rather than too little.
 */
export function workloadsWithout(gone: readonly GlobalPolicy[], facts: WorkloadFacts): readonly NamespaceWithout[] {
  const pods = podsOf(facts);
  const own = facts.policies.map((one) => ({
    namespace: one.metadata.namespace ?? '',
    name: one.metadata.name,
    selector: selectorIn(one),
  }));
  const goneNames = new Set(gone.map(({ name }) => name));
  const others = facts.globalPolicies.filter(({ name }) => !goneNames.has(name));
  const found = pods
    .filter(({ isSelected }) => gone.some(isSelected))
    .map(({ namespace, ownLabels, isSelected }) => ({
      namespace,
      names: [
        ...others.filter(isSelected).map(({ name }) => name),
        ...own.filter((one) => one.namespace === namespace && isSelected(one)).map(({ name }) => `${namespace}/${name}`),
        ...facts.networkPolicies
          .filter((one) => one.metadata.namespace === namespace && selects(podSelector(one), ownLabels))
          .map((one) => `${namespace}/${one.metadata.name}`),
      ],
    }))
    .filter(({ names }) => names.length > 0);
  return [...Map.groupBy(found, ({ namespace }) => namespace)].map(([namespace, some]) => ({
    namespace,
    pods: some.length,
    policies: [...new Set(some.flatMap(({ names }) => names))].sort(),
  }));
}

/** Pods with labels; their namespaces with theirs. */
type PodsAndNamespaces = Pick<WorkloadFacts, 'pods' | 'namespaces' | 'profile'>;

/** The service gives every pod labels besides its own: its namespace and those of it, and the same of its service account, which is not read. */
function podsOf({ pods, namespaces, profile }: PodsAndNamespaces) {
  const { apiGroup } = profile;
  const prefixes = labelPrefixes(profile);
  const isUnknown = (label: string) => label === `${apiGroup}/serviceaccount` || label.startsWith(prefixes.serviceAccount);
  const given = new Map(
    namespaces.map(({ metadata: { name, labels = {} } }) => [name, labelsGiven({ name, labels }, prefixes.namespace, apiGroup)]),
  );
  return pods.map(({ metadata: { labels: ownLabels = {}, namespace = '' } }) => {
    const labels = { ...given.get(namespace), ...ownLabels, [`${apiGroup}/namespace`]: namespace, [`${apiGroup}/orchestrator`]: 'k8s' };
    const isSelected = ({ selector }: { readonly selector: Selector }) => mayMatch(selector, labels, isUnknown);
    return { namespace, ownLabels, isSelected };
  });
}

function selectorIn(policy: KubeObject): Selector {
  return storedSelector(policy, 'selector', (policy.spec as { readonly selector?: string } | undefined)?.selector ?? '');
}

function podSelector(policy: KubeObject): LabelSelector {
  return (policy.spec as { readonly podSelector?: LabelSelector } | undefined)?.podSelector ?? {};
}

/** A policy in whose rules addresses of hosts come or go, and what is subject to it besides the hosts that have verdicts of their own. */
export interface ChangedForOthers extends ChangedPolicy {
  readonly pods: number;
  /** Names of endpoints of single interfaces, and of hosts outside the cluster. */
  readonly endpoints: readonly string[];
}

/** Policies that apply only to hosts are left out: the hosts' verdicts show their changes. What is selected by a service account counts as selected. */
export function changedForOthers(
  changed: { readonly global: readonly ChangedPolicy[]; readonly namespaced: readonly ChangedPolicy[] },
  policies: ReadonlyMap<string, KubeObject>,
  facts: PodsAndNamespaces,
  others: readonly HostEndpoint[],
  world: PolicyWorld,
): readonly ChangedForOthers[] {
  const pods = podsOf(facts);
  const byName = Map.groupBy(world.policies, ({ name }) => name);
  const global = changed.global.map((one) => {
    const own = byName.get(one.name) ?? [];
    const tracked = own.filter(({ preDnat, doNotTrack }) => !preDnat && !doNotTrack);
    const endpoints = others.filter((other) => own.some(({ selects: selected }) => selected(inherited(other, world))));
    const reached = pods.filter(({ isSelected }) => tracked.some(isSelected));
    return { ...one, pods: reached.length, endpoints: endpoints.map(({ name }) => name) };
  });
  const namespaced = changed.namespaced.map((one) => {
    const policy = policies.get(one.name);
    const selector = policy && selectorIn(policy);
    const reached = pods.filter(
      ({ namespace, isSelected }) => selector && namespace === policy.metadata.namespace && isSelected({ selector }),
    );
    return { ...one, pods: reached.length, endpoints: [] };
  });
  return [...global, ...namespaced].filter(({ pods: count, endpoints }) => count > 0 || endpoints.length > 0);
}
