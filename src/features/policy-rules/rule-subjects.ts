import type { KubeObject } from '../../kernel/object.ts';
import type { GlobalPolicy } from './global-policy.ts';
import type { HostEndpoint } from './host-endpoint.ts';
import { inherited, type PolicyWorld } from './posture.ts';
import type { ChangedPolicy } from './rule-changes.ts';
import { predicateOf } from './selector.ts';
import { type PodsAndNamespaces, podReach } from './workloads-without-policy.ts';

/** A policy in whose rules addresses of hosts come or go, and what is subject to it besides the hosts that have verdicts of their own. */
export interface ChangedForOthers extends ChangedPolicy {
  readonly pods: number;
  /** Names of endpoints of single interfaces, and of hosts outside the cluster. */
  readonly endpoints: readonly string[];
}

/** Policies to which nothing else is subject are left out: what changes for the hosts their verdicts say. */
export function changedForOthers(
  changed: { readonly global: readonly ChangedPolicy[]; readonly namespaced: readonly ChangedPolicy[] },
  policies: ReadonlyMap<string, KubeObject>,
  facts: PodsAndNamespaces,
  others: readonly HostEndpoint[],
  world: PolicyWorld,
): readonly ChangedForOthers[] {
  const reach = podReach(facts);
  const byName = Map.groupBy(world.policies, ({ name }) => name);
  const global = changed.global.map((one) => {
    const own = byName.get(one.name) ?? [];
    const tracked = own.filter(({ preDnat, doNotTrack }) => !preDnat && !doNotTrack);
    return { ...one, pods: reach.global(tracked), endpoints: endpointsUnder(own, others, world) };
  });
  const namespaced = changed.namespaced.map((one) => {
    const policy = policies.get(one.name);
    return { ...one, pods: policy ? reach.namespaced(policy) : 0, endpoints: [] };
  });
  return [...global, ...namespaced].filter(({ pods, endpoints }) => pods > 0 || endpoints.length > 0);
}

function endpointsUnder(policies: readonly GlobalPolicy[], endpoints: readonly HostEndpoint[], world: PolicyWorld): readonly string[] {
  const predicates = policies.map(({ selector }) => predicateOf(selector));
  return endpoints.filter((one) => predicates.some((selects) => selects(inherited(one, world)))).map(({ name }) => name);
}
