import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { type GlobalPolicy, inOrder, labelPrefixes, labelsGiven, type Tier } from './global-policy.ts';
import type { Direction } from './rule.ts';
import { matches } from './selector.ts';
import { letsThrough } from './without-policy.ts';

/** A pod by what policies select it by. */
export interface PodPlace {
  readonly namespace: KubeObject['metadata'];
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
}

interface PodPolicies {
  /** Global ones and those of the pod's namespace. */
  readonly policies: readonly GlobalPolicy[];
  readonly tiers: readonly Tier[];
  readonly profile: Pick<Profile, 'apiGroup' | 'derivedProfiles' | 'allowAllProfile'>;
}

/** Policies that drop everything of a pod on a way; none if one that applies there may let something through. */
export function dropsAllOf(pod: PodPlace, way: Direction, { policies, tiers, profile }: PodPolicies): readonly GlobalPolicy[] {
  const labels = labelsOf(pod, profile);
  const own = policies.filter(
    ({ directions, selector, preDnat, doNotTrack }) => directions.includes(way) && !preDnat && !doNotTrack && matches(selector, labels),
  );
  const { allowAllProfile } = profile;
  const world = { policies: own, tiers: new Map(tiers.map((tier) => [tier.name, tier])), profiles: new Map(), allowAllProfile };
  // Where every tier passes, the profile of the namespace lets everything through.
  if (own.length === 0 || letsThrough(way, inOrder(own, tiers), { profiles: [allowAllProfile] }, world)) return [];
  const denying = own.filter(({ rules }) => !rules[way].some(({ action }) => action?.toLowerCase() === 'allow'));
  return denying.length > 0 ? denying : own;
}

function labelsOf({ namespace, labels, serviceAccount }: PodPlace, profile: PodPolicies['profile']): Readonly<Record<string, string>> {
  const { apiGroup } = profile;
  const prefixes = labelPrefixes(profile);
  return {
    ...labelsGiven(namespace, prefixes.namespace, apiGroup),
    ...labelsGiven({ name: serviceAccount }, prefixes.serviceAccount, apiGroup),
    ...labels,
    [`${apiGroup}/namespace`]: namespace.name,
    [`${apiGroup}/serviceaccount`]: serviceAccount,
    [`${apiGroup}/orchestrator`]: 'k8s',
  };
}
