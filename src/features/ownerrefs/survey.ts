import { eachOf } from '../../kernel/each-of.ts';
import { apiVersionOf, crdName, groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import { ApiFailure, type ClusterReader, type ListOptions } from '../../kernel/ports.ts';
import { appliedOwnerUids } from '../../kube/managed-fields.ts';
import { attempt } from '../survey/index.ts';
import type { OwnedObject } from './owner-fate.ts';
import { isHidden, readDefined, type UnreadKind, undiscovered, unreadKind } from './undiscovered.ts';
import { type Groups, joinViews, leanOf, placeText, type StoredView, stillHidden, storedView, type TwoViews, twoViewsIn } from './views.ts';

const CONCURRENT_LISTS = 6;
/** Kinds that nothing owns for long; kinds of these names in other groups are not skipped. */
const SKIPPED = new Set(['events', 'events.events.k8s.io', 'componentstatuses']);
/**
 * How long an evaluation holds for patches of many objects: longer than a search of a large cluster takes. Objects changed meanwhile are
 * re-checked and named, and an unreadable one stops the stage.
 */
export const JUDGED_ONCE_MORE_MS = 600_000;

const NOT_FOUND = 404;
/** Answers of a server that has the kind but no list of it, which discovery does not show. */
const NO_LIST = new Set([405, 406]);

/** Objects with an owner of the service's groups; incomplete if anything is in `unread`. */
export interface OwnedScan {
  readonly objects: readonly OwnedObject[];
  readonly unread: readonly UnreadKind[];
  /** Number of kinds that were searched. */
  readonly kinds: number;
}

type Searched = Pick<ClusterReader, 'discover' | 'list' | 'get'>;
type Scope = Pick<ListOptions, 'namespace' | 'labelSelector'>;

/**
 * Every object with an owner of the service's groups, as metadata, kind by kind (§4.8; domain §7.1); `unread` names groups and kinds that
 * failed. A search of the whole cluster includes kinds of CRDs that discovery did not name.
 */
export async function scanOwned(cluster: Searched, { apiGroup, crdGroup }: Groups, scope: Scope = {}): Promise<OwnedScan> {
  const isWhole = scope.namespace === undefined;
  const [{ kinds: named, failed }, defined] = await Promise.all([cluster.discover(), isWhole ? readDefined(cluster) : { value: [] }]);
  const more = await undiscovered(cluster, named, defined);
  const kinds = [...named, ...more.kinds];
  const groups = { apiGroup, crdGroup };
  const searched = kinds.filter((kind) => isSearched(kind, scope));
  const views = twoViewsIn(searched, groups);
  const again = namedNow(cluster);
  const searchOf = (kind: Kind): KindSearch => ({
    ...{ ...scope, ownedBy: [apiGroup, crdGroup] },
    ...(more.kinds.includes(kind) ? {} : { again }),
  });
  const parts = await eachOf(
    searched.filter((kind) => !views.some(({ crd }) => crd === kind)),
    CONCURRENT_LISTS,
    (kind) => {
      const both = views.find(({ v3 }) => v3 === kind);
      return both ? ownedInBoth(cluster, both, searchOf, groups) : ownedOf(cluster, kind, searchOf(kind));
    },
  );
  const unread = [
    ...failed.map((group) => ({ kind: group, because: 'its discovery fails' })),
    ...parts.flatMap((part) => part.unread),
    ...more.unread,
  ];
  return { objects: parts.flatMap(({ objects }) => objects), unread: uniqueKinds(unread), kinds: searched.length };
}

export function uniqueKinds(unread: readonly UnreadKind[]): readonly UnreadKind[] {
  return unread.filter(({ kind }, index) => unread.findIndex((one) => one.kind === kind) === index);
}

function isSearched(kind: Kind, { namespace }: Scope): boolean {
  const { plural, namespaced, unlisted } = kind;
  return !SKIPPED.has(kindText(kind)) && !unlisted && !plural.includes('/') && (namespace === undefined || namespaced);
}

interface KindSearch extends ListOptions {
  /** For a kind that discovery named; absent for one known only from its definition. */
  readonly again?: NamedNow;
}

async function ownedOf(cluster: Searched, kind: Kind, search: KindSearch): Promise<Omit<OwnedScan, 'kinds'>> {
  const reading = await attempt(() => listOrNothing(cluster, kind, search));
  if ('unread' in reading) return { objects: [], unread: [unreadKind(kindText(kind), reading)] };
  const groups = new Set(search.ownedBy);
  const { listed, at } = reading.value;
  return { objects: listed.flatMap((object) => ownedIn(object, at, groups)), unread: [] };
}

/** What is stored, with the owners that it lists, and what the v3 API shows of it, with those that are only noted beside it. */
async function ownedInBoth(
  cluster: Searched,
  views: TwoViews,
  searchOf: (kind: Kind) => KindSearch,
  groups: Groups,
): Promise<Omit<OwnedScan, 'kinds'>> {
  const { v3, crd } = views;
  const { ownedBy = [], ...search } = searchOf(crd);
  const reading = await attempt(() => listOrNothing(cluster, crd, { ...search, keep: leanOf(groups) }));
  const shown = await ownedOf(cluster, v3, searchOf(v3));
  if ('unread' in reading) return { objects: shown.objects, unread: [unreadKind(kindText(crd), reading), ...shown.unread] };
  const { listed, at } = reading.value;
  const objects = listed.flatMap((object) => ownedIn(object, at, new Set(ownedBy)));
  if (shown.unread.length > 0) return { objects, unread: shown.unread };
  const stored = listed.map((object) => storedView(object, groups));
  const joined = joinViews(shown.objects, stored, groups);
  const hidden = await stillHidden(cluster, views, joined.hidden, groups);
  return { objects: [...objects, ...joined.objects], unread: hidden.slice(0, 1).map((one) => hiddenIn(v3, one)) };
}

/** Garbage collection uses them once the API shows them, and nobody can remove them before. */
function hiddenIn(v3: Kind, one: StoredView): UnreadKind {
  return { kind: kindText(v3), because: `it does not show ${placeText(v3, one)}, which is stored with owners noted beside it` };
}

export function kindText({ group, plural }: Pick<Kind, 'group' | 'plural'>): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The objects, and the kind at the version that they were listed at; nothing where there is no list of it, or no such kind any more. */
async function listOrNothing(cluster: Searched, kind: Kind, { again, ...options }: KindSearch) {
  const listAt = async (at: Kind) => ({ listed: await cluster.list(at, { ...options, metadataOnly: true }), at });
  try {
    return await listAt(kind);
  } catch (thrown) {
    if (!(thrown instanceof ApiFailure) || (thrown.status !== NOT_FOUND && !NO_LIST.has(thrown.status))) throw thrown;
    const isNone = again ? NO_LIST.has(thrown.status) : await isHidden(cluster, kind);
    if (isNone) return { listed: [], at: kind };
    const now = again ? await again(kind) : kind;
    if (now === undefined) return { listed: [], at: kind };
    if (now.version === kind.version) throw thrown;
    return listAt(now);
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

/** Where a kind is that was named and not found: at the version that the server names now, or nowhere. */
type NamedNow = (kind: Kind) => Promise<Kind | undefined>;

/**
 * Asks discovery once more for all kinds that were named but not found: a version or kind was dropped, or another server behind the load
 * balancer answered. A kind still named or defined does not count as gone.
 */
function namedNow(cluster: Pick<ClusterReader, 'discover' | 'get'>): NamedNow {
  let asked: ReturnType<ClusterReader['discover']> | undefined;
  return async (kind) => {
    asked ??= cluster.discover('anew');
    const { kinds, failed } = await asked;
    const named = kinds.find(({ group, plural }) => group === kind.group && plural === kind.plural);
    if (named) return named;
    if (failed.includes(kind.group)) return kind;
    const defined = await undiscovered(cluster, kinds, { value: [crdName(kind)] });
    return defined.kinds.length + defined.unread.length > 0 ? kind : undefined;
  };
}
