import { type Context, goingTo } from '../../kernel/context.ts';
import { type Installation, isKeyValue } from '../../kernel/installation.ts';
import { groupOf, type KubeObject, type ObjectRef, type OwnerReference, plainRef, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import { policyName } from '../../kube/stored-metadata.ts';
import {
  type EndpointProfile,
  globalPolicyOf,
  hostEndpointOf,
  hostsWithout,
  inOrder,
  laneText,
  type PolicyWorld,
  tierOf,
} from '../policy-rules/index.ts';
import { findServiceCli, type NoCli, type ServiceCli } from '../service-cli/index.ts';
import { attempt, attemptWith, detailOf, readInstalled } from '../survey/index.ts';
import type { RemovalJudged } from './removal-checks.ts';
import { endpointProfiles, serviceObjects } from './stored-policies.ts';

export interface PolicyFacts extends RemovalJudged {
  readonly installation: Installation;
  /** Every stored object of the temporary policy: there may be two (host endpoint notes 5). */
  readonly found: readonly KubeObject[];
  readonly cli: ServiceCli | NoCli;
}

/** Searches the cluster for objects with an owner of the service's groups, and names the kinds that it could not search. */
export type SearchOwned = (
  cluster: ClusterReader,
  profile: Profile,
) => Promise<{
  readonly objects: readonly { readonly object: ObjectRef; readonly references: readonly OwnerReference[] }[];
  readonly unread: readonly { readonly kind: string }[];
}>;

/** The temporary policy as it is listed, and what would hold without it. */
export async function readPolicyFacts(sources: Sources, context: Context, search: SearchOwned): Promise<PolicyFacts> {
  const { profile, goal, options } = context;
  const installation = await readInstalled(sources, context);
  // The cluster refuses a CLI of any other release than its own, before the upgrade as after it.
  const release = installation.release ?? goal.release;
  const { datastore } = installation;
  const ofRelease = goingTo(context, release);
  const cli = isKeyValue({ datastore }) ? await findServiceCli(sources, ofRelease, datastore) : NOT_NEEDED;
  const objects = serviceObjects(sources, context, datastore, cli);
  const [policies, stored, tiers] = await Promise.all([objects('globalnetworkpolicies'), objects('hostendpoints'), objects('tiers')]);
  const found = temporaryPolicies(policies, profile);
  const endpoints = stored.map((one) => hostEndpointOf(one, profile.apiGroup));
  const hosts = await attempt(async () => {
    const profiles = await endpointProfiles({ cluster: sources.cluster, objects, profile, datastore }, endpoints);
    const world = policyWorld(context, { policies, tiers, profiles });
    const gone = found.map((one) => globalPolicyOf(one, profile));
    return hostsWithout(gone, endpoints, world);
  });
  const deniedOn = attemptWith(hosts, async (some) =>
    some
      .filter(({ denied }) => denied.length > 0)
      .map(({ endpoint, denied }) => ({
        host: `HostEndpoint/${endpoint.name}`,
        ...detailOf((limit) => denied.map(({ lane, after }) => `${lane}: ${laneText(after, limit)}`).join('; ')),
      })),
  );
  return {
    installation,
    found,
    stored: found.map(({ metadata }) => metadata.name),
    denied: await deniedOn,
    owned: found.length === 0 ? NOTHING_OWNED : await attempt(() => ownedBy(sources.cluster, found, context, search)),
    release,
    told: options.deletePolicy !== undefined,
    cli,
    needsCli: isKeyValue({ datastore }),
  };
}

const NOT_NEEDED: NoCli = { missing: 'the policy is stored in the API' };
const NOTHING_OWNED = { value: { objects: [], unread: [] } };

/** Objects that name it as their owner, by the stored UID or by the one that the v3 API shows. */
async function ownedBy(cluster: ClusterReader, found: readonly KubeObject[], { profile }: Context, search: SearchOwned) {
  const uids = new Set(found.flatMap(({ metadata: { uid } }) => (uid === undefined ? [] : [uid, convertUid(uid)])));
  const [mayList] = await cluster.reviewAccess([{ verb: 'list', group: '*', resource: '*' }]);
  // One answer instead of one refusal per kind, if the role of this command lacks that right.
  if (mayList !== true) return { objects: [], unread: ['this account may not list all kinds'] };
  const { objects, unread } = await search(cluster, profile);
  const isOwner = ({ uid, kind, name, apiVersion }: OwnerReference) =>
    uids.has(uid) || (groupOf(apiVersion) === profile.apiGroup && kind === 'GlobalNetworkPolicy' && name === profile.temporaryPolicy);
  const owned = objects
    .filter(({ references }) => references.some(isOwner))
    .map(({ object }) => ({ text: refText(object), object: plainRef(object) }));
  return { objects: owned, unread: unread.map(({ kind }) => kind) };
}

/** Names under which clients of one release or another store it; its own first. */
export function storedNames({ temporaryPolicy, policyRenaming }: Profile): readonly string[] {
  return [temporaryPolicy, ...(policyRenaming ? [`${policyRenaming.prefix}${temporaryPolicy}`] : [])];
}

/** Listed and identified by both of its names: neither "not found" by name nor the stored name alone is to be trusted (host endpoint notes 5). */
export function temporaryPolicies(policies: readonly KubeObject[], profile: Profile): readonly KubeObject[] {
  const stored = storedNames(profile);
  return policies.filter((policy) => stored.includes(policy.metadata.name) || policyName(policy, profile) === profile.temporaryPolicy);
}

export interface StoredPolicies {
  readonly policies: readonly KubeObject[];
  readonly tiers: readonly KubeObject[];
  /** Those that endpoints may name, stored or derived. */
  readonly profiles: readonly KubeObject[];
}

/** Policies in order, tiers and profiles; `untracked`: policies that bypass connection tracking count (eBPF mode). Throws Fault `failed` at a policy whose selector is none. */
export function policyWorld({ profile }: Context, { policies, tiers, profiles }: StoredPolicies, untracked = false): PolicyWorld {
  const allTiers = tiers.map(tierOf);
  const read = policies.map((one) => globalPolicyOf(one, profile));
  return {
    policies: inOrder(read, allTiers),
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
  } = (spec ?? {}) as Partial<EndpointProfile['rules']> & {
    readonly labelsToApply?: EndpointProfile['labels'];
  };
  return { labels: labelsToApply, rules: { ingress, egress } };
}
