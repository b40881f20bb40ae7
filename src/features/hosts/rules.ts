import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { policyName } from '../../kube/stored-metadata.ts';
import { policyWorld, type StoredPolicies } from '../policies/index.ts';
import { type FleetFacts, fleetVerdicts, type RuleSides, ruleSidesOf } from '../policy-rules/index.ts';
import { attemptWith } from '../survey/index.ts';

/** The verdicts on the hosts, and policies whose rules select otherwise. Throws Fault `failed` for invalid global selectors. */
export async function judgeFleet(
  fleet: Omit<FleetFacts, 'world' | 'rules'>,
  stored: StoredPolicies & { readonly untracked: boolean },
  networkPolicies: Reading<readonly KubeObject[]>,
  context: Context,
) {
  const { profile } = context;
  const world = policyWorld(context, stored, stored.untracked);
  const namespaced = await attemptWith(networkPolicies, async (some) =>
    sidesOf(some, ({ metadata: { namespace, name } }) => `${namespace}/${name}`, context),
  );
  const rules = {
    global: sidesOf(stored.policies, (one) => policyName(one, profile), context),
    profiles: sidesOf(stored.profiles, ({ metadata }) => metadata.name, context),
    namespaced: 'value' in namespaced ? namespaced.value : new Map<string, RuleSides>(),
  };
  const { hosts, policies } = fleetVerdicts({ ...fleet, world, rules });
  // Those of a namespace select only pods: unreadable ones are no reason to say nothing of the hosts.
  return { hosts, world, policies: 'unread' in namespaced ? namespaced : { value: policies } };
}

/** A policy may be stored under two names. */
function sidesOf(
  objects: readonly KubeObject[],
  nameOf: (object: KubeObject) => string,
  { profile }: Context,
): ReadonlyMap<string, RuleSides> {
  const sides = [...Map.groupBy(objects, nameOf)].map(([name, some]): readonly [string, RuleSides] => {
    const each = some.map((one) => ruleSidesOf(one, profile));
    return [name, { ingress: each.flatMap(({ ingress }) => ingress), egress: each.flatMap(({ egress }) => egress) }];
  });
  return new Map(sides.filter(([, { ingress, egress }]) => ingress.length + egress.length > 0));
}
