import type { Dependent, OwnerScan } from '../../checks/facts.ts';
import { appliedOwnerUids } from '../../core/applied-owners.ts';
import { apiVersionOf, groupOf, type Kind, type KubeObject } from '../../core/object.ts';
import type { OwnedObject } from '../../core/owner-fate.ts';
import { ApiFailure, type ClusterReader, type ListOptions } from '../../core/ports.ts';
import type { Profile } from '../../core/profile.ts';
import { attempt, eachOf } from '../reading.ts';
import { undiscovered } from './undiscovered.ts';

const CONCURRENT_LISTS = 6;
/** Kinds that the server lists but that nothing owns for long. */
const SKIPPED = new Set(['events', 'componentstatuses']);
/**
 * Patches of many objects say that all are looked at once more where one has changed meanwhile: what is found then is named, and what
 * cannot be read stops the stage. Longer than a search of a large cluster takes.
 */
export const JUDGED_ONCE_MORE_MS = 600_000;

/** Answers of a server that has the kind but no list of it, and does not say so. */
const NO_LIST = new Set([404, 405, 406]);

export interface UnreadKind {
  /** `secrets`, `deployments.apps`, or a whole group. */
  readonly kind: string;
  readonly because: string;
}

/** Objects with an owner of the service's groups; incomplete if anything is in `unread`. */
export interface OwnedScan {
  readonly objects: readonly OwnedObject[];
  readonly unread: readonly UnreadKind[];
  /** Number of kinds that were searched. */
  readonly kinds: number;
}

type Scope = Pick<ListOptions, 'namespace' | 'labelSelector'>;
type Groups = Pick<Profile, 'apiGroup' | 'crdGroup'>;

/**
 * Every object in the cluster with an owner of the service's groups (§4.8; domain §7.1): metadata only, kind by kind.
 * Groups whose discovery failed and kinds that may not be listed are named: the scan is incomplete then. In a search of the whole cluster
 * kinds that a CRD defines and the server did not name are searched as well.
 */
export async function scanOwned(
  cluster: Pick<ClusterReader, 'discover' | 'list' | 'get'>,
  { apiGroup, crdGroup }: Groups,
  scope: Scope = {},
): Promise<OwnedScan> {
  const { kinds, failed } = await cluster.discover();
  const listable = kinds.filter((kind) => isSearched(kind, scope) && !isSecondView(kind, kinds, { apiGroup, crdGroup }));
  const groups = [apiGroup, crdGroup];
  const options = { ...scope, ownedBy: groups };
  const [parts, unnamed] = await Promise.all([
    eachOf(listable, CONCURRENT_LISTS, (kind) => ownedOf(kind, () => listOrNothing(cluster, kind, options), groups)),
    scope.namespace === undefined ? searchUndiscovered(cluster, kinds, options) : [],
  ]);
  const all = [...parts, ...unnamed];
  return {
    objects: all.flatMap(({ objects }) => objects),
    unread: [...failed.map((group) => ({ kind: group, because: 'its discovery fails' })), ...all.flatMap(({ unread }) => unread)],
    kinds: listable.length + unnamed.length,
  };
}

function isSearched({ plural, namespaced, unlisted }: Kind, { namespace }: Scope): boolean {
  return !SKIPPED.has(plural) && !unlisted && !plural.includes('/') && (namespace === undefined || namespaced);
}

/** The v3 API shows what is stored in the CRD group a second time: a reference is taken off where it is stored. */
function isSecondView(kind: Kind, kinds: readonly Kind[], { apiGroup, crdGroup }: Groups): boolean {
  return kind.group === apiGroup && kinds.some(({ group, plural }) => group === crdGroup && plural === kind.plural);
}

/** Either of the two groups shows what the other one has. */
function isOtherView(kind: Kind, named: readonly Kind[], groups: readonly string[]): boolean {
  return groups.includes(kind.group) && named.some(({ group, plural }) => groups.includes(group) && plural === kind.plural);
}

type Part = Omit<OwnedScan, 'kinds'>;

async function ownedOf(kind: Kind, list: () => Promise<readonly KubeObject[]>, groups: readonly string[]): Promise<Part> {
  const reading = await attempt(list);
  if ('unread' in reading) return { objects: [], unread: [{ kind: kindText(kind), because: reading.unread }] };
  const ours = new Set(groups);
  return { objects: reading.value.flatMap((object) => ownedIn(object, kind, ours)), unread: [] };
}

/** Where such a kind is not found either, nobody has looked at its objects. */
async function searchUndiscovered(
  cluster: Pick<ClusterReader, 'list' | 'get'>,
  named: readonly Kind[],
  options: ListOptions & { readonly ownedBy: readonly string[] },
): Promise<readonly Part[]> {
  const { kinds, unread } = await undiscovered(cluster, named);
  const unseen = kinds.filter((kind) => !isOtherView(kind, named, options.ownedBy));
  const parts = await eachOf(unseen, CONCURRENT_LISTS, (kind) =>
    ownedOf(kind, () => cluster.list(kind, { ...options, metadataOnly: true }), options.ownedBy),
  );
  return unread.length === 0 ? parts : [...parts, { objects: [], unread }];
}

export function kindText({ group, plural }: Pick<Kind, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

async function listOrNothing(cluster: Pick<ClusterReader, 'list'>, kind: Kind, options: ListOptions): Promise<readonly KubeObject[]> {
  try {
    return await cluster.list(kind, { ...options, metadataOnly: true });
  } catch (thrown) {
    if (thrown instanceof ApiFailure && NO_LIST.has(thrown.status)) return [];
    throw thrown;
  }
}

/** The list may say PartialObjectMetadata: the kind asked for is the true one. */
function ownedIn({ metadata }: KubeObject, kind: Kind, groups: ReadonlySet<string>): readonly OwnedObject[] {
  const references = metadata.ownerReferences ?? [];
  if (!references.some((owner) => groups.has(groupOf(owner.apiVersion)))) return [];
  const { name, namespace, uid = '' } = metadata;
  const place = { apiVersion: apiVersionOf(kind), kind: kind.kind, plural: kind.plural };
  const appliedOwners = appliedOwnerUids(metadata);
  const applied = appliedOwners.length === 0 ? {} : { appliedOwners };
  return [{ object: { ...place, name, uid, ...(namespace ? { namespace } : {}) }, references, ...applied }];
}

/** The same, one line per reference to the service's groups. */
export async function readOwners(cluster: ClusterReader, profile: Profile): Promise<OwnerScan> {
  const { objects, unread, kinds } = await scanOwned(cluster, profile);
  return { dependents: objects.flatMap((one) => dependentsOf(one, profile)), unread, kinds };
}

function dependentsOf({ object, references }: OwnedObject, { apiGroup, crdGroup }: Groups): readonly Dependent[] {
  const { plural: _, ...ref } = object;
  const isOurs = (apiVersion: string) => [apiGroup, crdGroup].includes(groupOf(apiVersion));
  return references.filter(({ apiVersion }) => isOurs(apiVersion)).map((owner) => ({ object: ref, owner }));
}
