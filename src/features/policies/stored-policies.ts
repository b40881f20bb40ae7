import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Datastore, type Installation, isKeyValue } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type Kind, type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { text } from '../../kernel/step.ts';
import { named, unattributed } from '../../kube/lean-objects.ts';
import { isOfDefaultTier, policyName, servedObject } from '../../kube/stored-metadata.ts';
import { type HostEndpoint, labelsGiven } from '../policy-rules/index.ts';
import { type CliCall, cliList, type NoCli } from '../service-cli/index.ts';
/** Kinds of policies that the controllers may store again under another name (domain §7.2b). */
export const POLICY_PLURALS = ['networkpolicies', 'globalnetworkpolicies', 'stagednetworkpolicies', 'stagedglobalnetworkpolicies'] as const;

/** Kinds that the policy-name migration stores again. */
export const POLICY_KINDS: ReadonlySet<string> = new Set([
  'NetworkPolicy',
  'GlobalNetworkPolicy',
  'StagedNetworkPolicy',
  'StagedGlobalNetworkPolicy',
]);

/** The target's API server finds a policy only under the name that it is stored under (host endpoint notes 0.5). */
export function asksStoredNames({ profile: { policyRenaming }, goal }: Pick<Context, 'profile' | 'goal'>): boolean {
  return policyRenaming !== undefined && !isOlder(goal.release, policyRenaming.since);
}

/** What the name and the tier of a stored policy are detected from, when it was made, and whether it was stored again. */
export function leanPolicy(policy: KubeObject): KubeObject {
  const { tier } = (policy.spec ?? {}) as { readonly tier?: unknown };
  return { ...named(policy, 'uid', 'annotations', 'creationTimestamp'), spec: { tier } };
}

/** Why the controllers of the target never rename what is stored in the API; undefined where they do (domain §7.2b). */
export function neverRenames(installation: Installation, profile: Profile): string | undefined {
  return isKeyValue(installation) ? 'they are in a key-value store' : waitsInVain(installation, profile);
}

/** Why the controllers never begin to rename, whatever the store; undefined where they do. */
export function waitsInVain({ agent }: Installation, { policyRenaming }: Profile): string | undefined {
  const waits = policyRenaming?.waitsFor;
  if (waits === undefined || agent === undefined || agent.name === waits) return undefined;
  return `the controllers wait for a DaemonSet ${waits} before they rename, and the agents here are called ${agent.name}`;
}

/** The policies that the upgrade stores under another name, as the user gives them to the service's API: with their own names. */
export async function readRenamedPolicies(
  sources: Sources,
  context: Pick<Context, 'goal' | 'profile' | 'options'>,
  installation: Installation,
): Promise<readonly KubeObject[]> {
  const { profile, options } = context;
  const isHeld = options.holdPolicyMigration === true || neverRenames(installation, profile) !== undefined;
  if (isHeld || !asksStoredNames(context)) return [];
  const objects = storedObjects(sources, profile);
  const stored = (await Promise.all(POLICY_PLURALS.map(objects))).flat();
  return stored
    .filter((policy) => isRenamePending(policy, profile))
    .map((policy) => servedObject(policy, profile.apiGroup, policyName(policy, profile)));
}

/** No stored policy waits for its new name any more, or the controllers are told to rename none (host endpoint notes 4). */
export interface PoliciesSettled {
  readonly type: 'policies-settled';
  /** Stored kinds of policies. */
  readonly kinds: readonly Kind[];
  readonly apiGroup: string;
  readonly prefix: string;
  /** Object and field that switch the renaming off; undefined if the cluster has no such kind. */
  readonly hold?: { readonly kind: Kind; readonly name: string; readonly field: string };
}

/** Stored policies whose name is not the one that the service knows them by: the controllers store them again (host endpoint notes 4). */
export async function pendingNow(
  cluster: Pick<ClusterReader, 'get' | 'list'>,
  { hold, kinds, apiGroup, prefix }: Omit<PoliciesSettled, 'type'>,
): Promise<readonly string[]> {
  // Read again each time: writers of older releases erase it.
  if (hold && valueAt(await cluster.get(hold.kind, hold.name), hold.field) === 'Disabled') return [];
  const lists = await Promise.all(kinds.map((kind) => cluster.list(kind, { keep: leanPolicy })));
  const names = { apiGroup, policyRenaming: { since: '', prefix, switchField: '' } };
  return lists
    .flat()
    .filter((policy) => isRenamePending(policy, names))
    .map((policy) => refText(refOf(policy)));
}

/** True if the controllers will store the policy under another name. */
export function isRenamePending(policy: KubeObject, names: Parameters<typeof policyName>[1]): boolean {
  return isOfDefaultTier(policy) && policyName(policy, names) !== policy.metadata.name;
}

/** The value of `spec.a.b` in an object; undefined if there is none. */
export function valueAt(object: unknown, field: string): unknown {
  return jsonAt(object, ...field.split('.'));
}

/** Where the service's resources are read: stored in the API, or behind its CLI in key-value mode. */
export type ServiceObjects = (plural: string) => Promise<readonly KubeObject[]>;

/**
 * Stored resources of the API, all of a kind, or none without that kind. Read from the v1 group, as an older aggregated API server shows
 * labels of newer ones wrongly (host endpoint notes 3).
 */
function storedObjects({ cluster }: Pick<Sources, 'cluster'>, { crdGroup }: Profile): ServiceObjects {
  const kinds = cluster.discover();
  return async (plural) => {
    const kind = await storedKind(kinds, [crdGroup], plural);
    return kind ? cluster.list(kind, { keep: unattributed }) : [];
  };
}

/** The kind of a plural in the first of these groups that has it. Throws Fault('failed') if none has and one could not be asked, which is not "none". */
export async function storedKind(discovery: Discovery, groups: readonly string[], plural: string): Promise<Kind | undefined> {
  const { kinds, failed } = await discovery;
  const [kind] = groups.flatMap((group) => kinds.filter((one) => one.group === group && one.plural === plural));
  const unasked = groups.filter((group) => failed.includes(group));
  if (!kind && unasked.length > 0)
    throw new Fault('failed', `the discovery of ${unasked.join(', ')} fails`, [
      text`repair the API behind it: ${command`kubectl get apiservices`}`,
    ]);
  return kind;
}

type Discovery = ReturnType<ClusterReader['discover']>;

/** In key-value mode only the CLI sees them. */
export function serviceObjects(sources: Sources, { profile }: Context, datastore: Datastore, cli: CliCall | NoCli): ServiceObjects {
  if (datastore === 'api') return storedObjects(sources, profile);
  return async (plural) => ('missing' in cli ? [] : cliList(sources, cli, plural));
}

interface Where {
  readonly cluster: Pick<ClusterReader, 'get'>;
  readonly objects: ServiceObjects;
  readonly profile: Profile;
  readonly datastore: Datastore;
}

/** Profiles that host endpoints may name: with the API datastore the named derived ones, in key-value mode all stored ones. */
export async function endpointProfiles(
  { cluster, objects, profile, datastore }: Where,
  endpoints: readonly Pick<HostEndpoint, 'profiles'>[],
): Promise<readonly KubeObject[]> {
  if (isKeyValue({ datastore })) return objects('profiles');
  const names = [...new Set(endpoints.flatMap(({ profiles }) => profiles))];
  const derived = await eachOf(names, 8, (name) => derivedProfile(cluster, profile, name));
  return derived.filter((one) => one !== undefined);
}

/** The profile of a namespace or of a service account; undefined if the name is of neither, or if there is no such object any more. */
async function derivedProfile(cluster: Where['cluster'], profile: Profile, name: string): Promise<KubeObject | undefined> {
  const { namespace, serviceAccount } = profile.derivedProfiles ?? {};
  const profileOf = (live: KubeObject | undefined, prefix: string, rules: object = {}): KubeObject | undefined => {
    const spec = live && { ...rules, labelsToApply: labelsGiven(live.metadata, prefix, profile.apiGroup) };
    return spec && { apiVersion: '', kind: 'Profile', metadata: { name }, spec };
  };
  if (namespace && name.startsWith(namespace.prefix)) {
    const live = await cluster.get(K.Namespace, name.slice(namespace.prefix.length));
    return profileOf(live, namespace.labelPrefix, { ingress: ALLOW, egress: ALLOW });
  }
  if (!serviceAccount || !name.startsWith(serviceAccount.prefix)) return undefined;
  // Namespaces have no dots in their names, service accounts may.
  const [space = '', ...rest] = name.slice(serviceAccount.prefix.length).split('.');
  const live = rest.length > 0 ? await cluster.get(K.ServiceAccount, rest.join('.'), space) : undefined;
  return profileOf(live, serviceAccount.labelPrefix);
}

const ALLOW = [{ action: 'Allow' }];
