import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { groupOf, type Kind, type KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import { named } from '../../kube/lean-objects.ts';
import { isOfDefaultTier, madeAtOf, policyName, storedMetadata } from '../../kube/stored-metadata.ts';
import { leanPolicy, POLICY_KINDS } from '../policies/index.ts';
import { attempt, resourcesOf } from '../survey/index.ts';
import { type OwnedObject, type OwnersOfKind, type OwnerWorld, ownerPlace, type StoredOwner } from './owner-fate.ts';
import type { Way } from './removal-rule.ts';
import { kindText } from './survey.ts';
import { type UnreadKind, unreadKind } from './undiscovered.ts';

export interface ReadWorld {
  readonly world: OwnerWorld;
  /** Kinds of owners that could not be read. */
  readonly unread: readonly UnreadKind[];
  /** The same by `groupKind`, as references name them. */
  readonly unreadOwners: readonly string[];
}

/** `netsvc.io|NetworkSet` */
export function groupKind({ group, kind }: Pick<Kind, 'group' | 'kind'>): string {
  return `${group}|${kind}`;
}

/** The owners that the objects name: served and stored UIDs of their kinds, metadata alone where that is enough (§4.8). */
export async function readOwnerWorld(
  cluster: Pick<ClusterReader, 'discover' | 'list'>,
  { profile }: Pick<Context, 'profile'>,
  objects: readonly Pick<OwnedObject, 'object' | 'references'>[],
  way: Way,
): Promise<ReadWorld> {
  const { apiGroup, crdGroup } = profile;
  const inV3 = kindsNamed(objects, apiGroup);
  const names = new Set([...inV3, ...kindsNamed(objects, crdGroup)]);
  const { kinds } = names.size === 0 ? { kinds: [] } : await cluster.discover();
  const read = await eachOf([...names], 4, async (name) => {
    const read = await readKind(cluster, kinds, { name, inV3: inV3.has(name), back: way.back }, profile);
    return { name, ...(way.keepsUids ? read : withoutGaps(name, read, objects, profile)) };
  });
  return {
    world: { apiGroup, crdGroup, kinds: Object.fromEntries(read.map(({ name, owners }) => [name, owners])), ...way },
    unread: read.flatMap(({ unread }) => unread),
    unreadOwners: read.flatMap(({ unreadOwners }) => unreadOwners),
  };
}

/** Kinds of a group that something names as its owner. */
function kindsNamed(objects: readonly Pick<OwnedObject, 'references'>[], group: string): ReadonlySet<string> {
  const named = objects.flatMap(({ references }) => references.filter(({ apiVersion }) => groupOf(apiVersion) === group));
  return new Set(named.map(({ kind }) => kind));
}

interface KindRead extends Omit<ReadWorld, 'world'> {
  readonly owners: OwnersOfKind;
  /** `ippools.netsvc.io`: the kind in the v3 group, for users. */
  readonly text: string;
}

async function readKind(
  cluster: Pick<ClusterReader, 'list'>,
  kinds: readonly Kind[],
  { name, inV3, back }: { readonly name: string; readonly inV3: boolean; readonly back: Way['back'] },
  profile: Context['profile'],
): Promise<KindRead> {
  const [v3] = resourcesOf(kinds, profile.apiGroup, name);
  const [crd] = resourcesOf(kinds, profile.crdGroup, name);
  const [served, stored] = await Promise.all([
    v3 && inV3 ? attempt(() => cluster.list(v3, { metadataOnly: true, keep: lean })) : undefined,
    crd ? attempt(() => cluster.list(crd, POLICY_KINDS.has(name) ? { keep: leanPolicy } : { metadataOnly: true, keep: lean })) : undefined,
  ]);
  const unread: UnreadKind[] = [];
  const unreadOwners: string[] = [];
  const missed = (group: string, one: UnreadKind) => {
    unread.push(one);
    unreadOwners.push(groupKind({ group, kind: name }));
  };
  if (inV3 && !v3) missed(profile.apiGroup, { kind: `${name}.${profile.apiGroup}`, because: 'the server does not serve it' });
  if (v3 && served && 'unread' in served) missed(profile.apiGroup, unreadKind(kindText(v3), served));
  if (crd && stored && 'unread' in stored) missed(profile.crdGroup, unreadKind(kindText(crd), stored));
  return {
    owners: {
      namespaced: (v3 ?? crd)?.namespaced ?? false,
      ...(served && 'value' in served ? { served: uidsOf(served.value), ...twinsOf(served.value) } : {}),
      ...(stored && 'value' in stored ? storedOf(stored.value, { kind: name, back }, profile) : {}),
    },
    unread,
    unreadOwners,
    text: v3 ? kindText(v3) : `${name}.${profile.apiGroup}`,
  };
}

/** A list of the v3 API without an owner that is stored is no proof: others missing in it may exist as well. */
function withoutGaps(
  kind: string,
  read: KindRead,
  objects: readonly Pick<OwnedObject, 'object' | 'references'>[],
  { apiGroup }: Context['profile'],
): KindRead {
  const unshown = unshownOwner({ apiGroup, kind }, read.owners, objects);
  if (unshown === undefined) return read;
  const { served: _, twins: __, ...owners } = read.owners;
  const because = `its list does not show ${unshown}, which is stored`;
  return {
    ...{ owners, text: read.text },
    unread: [...read.unread, { kind: read.text, because }],
    unreadOwners: [...read.unreadOwners, groupKind({ group: apiGroup, kind })],
  };
}

function uidsOf(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  return new Map(objects.map(({ metadata: { namespace, name, uid = '' } }) => [ownerPlace(namespace, name), uid]));
}

/** A policy that is stored under two names is shown twice under one, until the migration drops the prefixed one (host endpoint notes 0.6). */
function twinsOf(objects: readonly KubeObject[]): Pick<OwnersOfKind, 'twins'> {
  const byPlace = Map.groupBy(objects, ({ metadata: { namespace, name } }) => ownerPlace(namespace, name));
  const twins = [...byPlace].flatMap(([place, all]) =>
    all.length > 1 ? [[place, new Set(all.flatMap(({ metadata: { uid } }) => uid ?? []))] as const] : [],
  );
  return twins.length === 0 ? {} : { twins: new Map(twins) };
}

/** Of two stored objects of one name the one that stays is not the prefixed one. */
function storedOf(
  objects: readonly KubeObject[],
  { kind, back }: { readonly kind: string; readonly back: Way['back'] },
  profile: Context['profile'],
): Pick<OwnersOfKind, 'stored' | 'hidden'> {
  const stored = new Map<string, StoredOwner>();
  const hidden = new Map<string, StoredOwner>();
  for (const object of objects) {
    const { namespace, name: storedName, uid = '' } = object.metadata;
    const isPolicy = POLICY_KINDS.has(kind);
    const name = isPolicy ? policyName(object, profile) : storedName;
    const renamePending = isPolicy && name !== storedName && isOfDefaultTier(object);
    const place = ownerPlace(namespace, name);
    const madeAt = isPolicy ? madeAtOf(object, profile.apiGroup) : undefined;
    const former = isPolicy ? formerOf(object, back, profile) : undefined;
    const owner: StoredOwner = { name, storedName, uid, renamePending, ...(madeAt ? { madeAt } : {}), ...(former ? { former } : {}) };
    const other = stored.get(place);
    const [shown, behind] = other && name !== storedName ? [other, owner] : [owner, other];
    stored.set(place, shown);
    if (behind) hidden.set(ownerPlace(namespace, behind.storedName), behind);
  }
  return { stored, hidden };
}

/** Only what was written through the service's API was renamed, and is stored under its former name again. */
function formerOf(policy: KubeObject, back: Way['back'], { apiGroup }: Context['profile']): StoredOwner['former'] {
  if (back?.prefix === undefined || !isOfDefaultTier(policy) || policy.metadata.name.startsWith(back.prefix)) return undefined;
  return storedMetadata(policy, apiGroup).stored ? 'moves' : 'unfound';
}

function lean(object: KubeObject): KubeObject {
  return named(object, 'uid');
}

/**
 * A stored owner of the v3 group, `NAMESPACE/NAME`, that the v3 API does not show; undefined if there is none. The service's API server
 * silently lists only what the account may see (it asks for permission on each tier).
 */
export function unshownOwner(
  { apiGroup, kind }: { readonly apiGroup: string; readonly kind: Kind['kind'] },
  { namespaced, served, stored }: OwnersOfKind,
  objects: readonly Pick<OwnedObject, 'object' | 'references'>[],
): string | undefined {
  if (!served || !stored) return undefined;
  for (const { object, references } of objects)
    for (const reference of references) {
      if (groupOf(reference.apiVersion) !== apiGroup || reference.kind !== kind) continue;
      const place = ownerPlace(namespaced ? object.namespace : undefined, reference.name);
      if (stored.has(place) && !served.has(place)) return `${kind}${place.startsWith('/') ? '' : '/'}${place}`;
    }
  return undefined;
}
