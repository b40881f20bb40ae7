import type { Context } from '../../kernel/context.ts';
import { allOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { groupOf, type KubeObject, type ObjectRef, type OwnerReference, plainRef, refText } from '../../kernel/object.ts';
import { keptElsewhere } from '../../kernel/object-change.ts';
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
  workloadsWithout,
} from '../policy-rules/index.ts';
import { findServiceCli, type NoCli, type ServiceCli } from '../service-cli/index.ts';
import { attempt, attemptWith, detailOf, listed, readInstalled } from '../survey/index.ts';
import type { RemovalJudged } from './removal-checks.ts';
import { endpointProfiles, type ServiceObjects, serviceObjects } from './stored-policies.ts';
import { type RemovedPolicy, removedPolicies, storedNames, toCreate } from './undo.ts';

export interface PolicyFacts extends RemovalJudged {
  readonly installation: Installation;
  /** Every stored object of the temporary policy: there may be two (host endpoint notes 5). */
  readonly found: readonly KubeObject[];
  readonly cli: ServiceCli | NoCli;
  /** What the latest removal deleted, or was about to. */
  readonly removed: readonly RemovedPolicy[];
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
  const { profile, options } = context;
  const installation = await readInstalled(sources, context);
  // The cluster refuses a CLI of any other release than its own, before the upgrade as after it.
  const release = installation.release ?? options.release;
  const cli = await findServiceCli(sources, { ...context, options: { ...options, release } }, installation.datastore);
  const objects = serviceObjects(sources, context, installation.datastore, cli);
  const [policies, stored, tiers, removed, workloads] = await Promise.all([
    objects('globalnetworkpolicies'),
    objects('hostendpoints'),
    objects('tiers'),
    removedPolicies(sources.records),
    attempt(() => readWorkloadFacts(sources.cluster, objects, profile)),
  ]);
  const found = temporaryPolicies(policies, profile);
  const endpoints = stored.map((one) => hostEndpointOf(one, profile.apiGroup));
  const { datastore } = installation;
  const hosts = await attempt(async () => {
    const profiles = await endpointProfiles({ cluster: sources.cluster, objects, profile, datastore }, endpoints);
    const world = policyWorld(context, { policies, tiers, profiles });
    const gone = found.map((one) => globalPolicyOf(one, profile));
    return hostsWithout(gone, endpoints, world);
  });
  const elsewhere = options.undo ? await keptElsewhere(sources.records, toCreate({ removed, found }, profile)) : [];
  const told = (what: 'denied' | 'decided') =>
    attemptWith(hosts, async (some) =>
      some
        .filter((host) => host[what].length > 0)
        .map(({ endpoint, [what]: lanes }) => ({
          host: `HostEndpoint/${endpoint.name}`,
          ...detailOf((limit) => lanes.map(({ lane, after }) => `${lane}: ${laneText(after, limit)}`).join('; ')),
        })),
    );
  return {
    installation,
    found,
    removed,
    stored: found.map(({ metadata }) => metadata.name),
    denied: await told('denied'),
    decided: await told('decided'),
    pods: await attemptWith(workloads, async (facts) => podsWithout(found, policies, facts, profile)),
    owned: found.length === 0 || options.undo ? NOTHING_OWNED : await attempt(() => ownedBy(sources.cluster, found, context, search)),
    release,
    told: options.deletePolicy !== undefined,
    cli,
    needsCli: installation.datastore === 'kvstore' || options.undo === true,
    undo: options.undo === true,
    fromElsewhere: elsewhere.map(({ policy, name }) => ({
      text: `GlobalNetworkPolicy/${name}`,
      detail: JSON.stringify(policy.spec ?? {}),
    })),
  };
}

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

type PodFacts = Awaited<ReturnType<typeof readWorkloadFacts>>;

async function readWorkloadFacts(cluster: ClusterReader, objects: ServiceObjects, profile: Profile) {
  const read = await allOf({
    pods: cluster.list(K.Pod, { metadataOnly: true }),
    namespaces: cluster.list(K.Namespace, { metadataOnly: true }),
    policies: objects('networkpolicies'),
    networkPolicies: cluster.list(K.NetworkPolicy),
  });
  return { ...read, profile };
}

function podsWithout(found: readonly KubeObject[], policies: readonly KubeObject[], facts: PodFacts, profile: Profile) {
  const globalPolicies = policies.map((one) => globalPolicyOf(one, profile));
  const gone = found.map((one) => globalPolicyOf(one, profile));
  return workloadsWithout(gone, { ...facts, globalPolicies }).map(({ namespace, pods, policies: names }) => ({
    namespace,
    pods,
    ...detailOf((limit = Number.POSITIVE_INFINITY) => `${listed(names, limit)} would decide alone`),
  }));
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
