import type { Context } from '../../kernel/context.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { EndpointProfile, PolicyWorld } from '../policy-rules/index.ts';
import { globalPolicyOf, inOrder, tierOf } from '../policy-rules/index.ts';

export interface StoredPolicies {
  readonly policies: readonly KubeObject[];
  readonly tiers: readonly KubeObject[];
  /** Those that endpoints may name, stored or derived. */
  readonly profiles: readonly KubeObject[];
}

/** Policies in order, tiers and profiles; `untracked`: policies that bypass connection tracking count (eBPF mode). Throws Fault `failed` at a policy whose selector is none. */
export function policyWorld({ profile }: Context, { policies, tiers, profiles }: StoredPolicies, untracked = false): PolicyWorld {
  const allTiers = tiers.map(tierOf);
  return {
    policies: inOrder(
      policies.map((one) => globalPolicyOf(one, profile)),
      allTiers,
    ),
    tiers: new Map(allTiers.map((tier) => [tier.name, tier])),
    profiles: new Map(profiles.map((one) => [one.metadata.name, endpointProfile(one)])),
    allowAllProfile: profile.allowAllProfile,
    untracked,
  };
}

function endpointProfile({ spec }: KubeObject): EndpointProfile {
  const {
    labelsToApply = {},
    ingress = [],
    egress = [],
  } = (spec ?? {}) as {
    readonly labelsToApply?: EndpointProfile['labels'];
    readonly ingress?: EndpointProfile['rules']['ingress'];
    readonly egress?: EndpointProfile['rules']['egress'];
  };
  return { labels: labelsToApply, rules: { ingress, egress } };
}
