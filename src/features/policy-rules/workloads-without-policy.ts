import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { labelPrefixes, labelsGiven } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { inherited, type PolicyWorld } from './posture.ts';
import type { ChangedPolicy } from './rule-changes.ts';
import { mayMatch, type Selector } from './selector.ts';
import { storedSelector } from './stored-selector.ts';

/** Pods with labels; their namespaces with theirs. */
interface PodsAndNamespaces {
  readonly pods: readonly KubeObject[];
  readonly namespaces: readonly KubeObject[];
  readonly profile: Pick<Profile, 'apiGroup' | 'derivedProfiles'>;
}

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
    return { namespace, isSelected };
  });
}

function selectorIn(policy: KubeObject): Selector {
  return storedSelector(policy, 'selector', (policy.spec as { readonly selector?: string } | undefined)?.selector ?? '');
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
