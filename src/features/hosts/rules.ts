import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { policyName } from '../../kube/stored-metadata.ts';
import { policyWorld, type StoredPolicies } from '../policies/index.ts';
import {
  type AddressSets,
  addressSetsOf,
  type ChangedForOthers,
  changedForOthers,
  endpointsWithoutNode,
  type FleetFacts,
  fleetVerdicts,
  type HostEndpoint,
  isAllInterfaces,
} from '../policy-rules/index.ts';
import { attemptWith } from '../survey/index.ts';

type Fleet = Omit<FleetFacts, 'world' | 'rules'>;

/** The verdicts on the hosts; unreadable namespaced policies select only pods. Throws Fault `failed` for invalid global selectors. */
export async function judgeFleet(
  fleet: Fleet,
  stored: StoredPolicies & { readonly untracked: boolean },
  networkPolicies: Reading<readonly KubeObject[]>,
  context: Context,
) {
  const { profile } = context;
  const world = policyWorld(context, stored, stored.untracked);
  const byName = await attemptWith(networkPolicies, async (some) => new Map(some.map((one) => [nameIn(one), one])));
  const namespaced = await attemptWith(byName, async (some) => setsOf(some, context));
  const policies = Map.groupBy(stored.policies, (one) => policyName(one, profile));
  const rules = {
    global: setsOf(policies, context),
    profiles: setsOf(new Map(stored.profiles.map((one) => [one.metadata.name, one])), context),
    namespaced: 'value' in namespaced ? namespaced.value : new Map<string, AddressSets>(),
  };
  // `networkPolicies`: policies of namespaces by `namespace/name`, or why they are not known.
  return { ...fleetVerdicts({ ...fleet, world, rules }), world, networkPolicies: 'unread' in namespaced ? namespaced : byName };
}

/** Policies in whose rules addresses change for pods and for endpoints that stay; pods are read only if there are any. */
export async function changesForOthers(
  { global, namespaced, world, networkPolicies }: Awaited<ReturnType<typeof judgeFleet>>,
  fleet: Fleet,
  cluster: Pick<ClusterReader, 'list'>,
  { profile }: Context,
): Promise<Reading<readonly ChangedForOthers[]>> {
  return attemptWith(networkPolicies, async (policies) => {
    if (global.length + namespaced.length === 0) return [];
    const list = (kind: typeof K.Pod) => cluster.list(kind, { metadataOnly: true });
    const [pods, namespaces] = await Promise.all([list(K.Pod), list(K.Namespace)]);
    const facts = { pods, namespaces, profile };
    return changedForOthers({ global, namespaced }, policies, facts, stayingEndpoints(fleet), world);
  });
}

/** Those of single interfaces, and those of hosts outside the cluster. */
function stayingEndpoints(fleet: Fleet): readonly HostEndpoint[] {
  return [...new Set([...fleet.endpoints.filter((one) => !isAllInterfaces(one)), ...endpointsWithoutNode(fleet)])];
}

const nameIn = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;

/** A policy may be stored under two names. */
function setsOf(objects: ReadonlyMap<string, KubeObject | readonly KubeObject[]>, { profile }: Context): ReadonlyMap<string, AddressSets> {
  const sets = [...objects].map(([name, some]): readonly [string, AddressSets] => {
    const each = [some].flat().map((one) => addressSetsOf(one as KubeObject, profile));
    return [name, { ingress: each.flatMap(({ ingress }) => ingress), egress: each.flatMap(({ egress }) => egress) }];
  });
  return new Map(sets.filter(([, { ingress, egress }]) => ingress.length + egress.length > 0));
}
