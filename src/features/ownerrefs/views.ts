import { eachOf } from '../../kernel/each-of.ts';
import { apiVersionOf, groupOf, type Kind, type KubeObject, type OwnerReference } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { convertUid } from '../../kube/converted-uid.ts';
import { named } from '../../kube/lean-objects.ts';
import { LAST_APPLIED } from '../../kube/managed-fields.ts';
import { madeAtOf, notedOwners } from '../../kube/stored-metadata.ts';
import { attempt } from '../survey/index.ts';
import type { JournalObject } from './journal-entries.ts';
import type { OwnedObject } from './owner-fate.ts';

export type Groups = Pick<Profile, 'apiGroup' | 'crdGroup'>;
type Place = Pick<JournalObject, 'name' | 'namespace'>;

/** A kind that the v3 API shows of what is stored in the CRD group. */
export interface TwoViews {
  readonly v3: Kind;
  readonly crd: Kind;
}

/**
 * Kinds visible in both groups; garbage collection uses both. The service's API server keeps owners in the annotation `<group>/metadata` of
 * the stored object and shows only those (`ConvertCalicoResourceToK8sResource`); the stored object's own list stays empty.
 */
export function twoViewsIn(kinds: readonly Kind[], { apiGroup, crdGroup }: Groups): readonly TwoViews[] {
  return kinds.flatMap((v3) => {
    const crd = v3.group === apiGroup ? kinds.find(({ group, plural }) => group === crdGroup && plural === v3.plural) : undefined;
    return crd ? [{ v3, crd }] : [];
  });
}

/** A stored object, as far as both views of it are concerned. */
export interface StoredView extends Place {
  readonly uid: string;
  /** What the annotation notes as its owners, in their order; undefined where there is no annotation: the v3 API shows its own list then. */
  readonly noted?: readonly OwnerReference[];
  /** Of policies: what a copy under a new name is known by. */
  readonly madeAt?: string;
}

export function storedView(object: KubeObject, { apiGroup }: Groups): StoredView {
  const { name, namespace, uid = '' } = object.metadata;
  const noted = notedOwners(object, apiGroup);
  const madeAt = noted && madeAtOf(object, apiGroup);
  return { name, uid, ...(namespace ? { namespace } : {}), ...(noted ? { noted } : {}), ...(madeAt ? { madeAt } : {}) };
}

/** For `ListOptions.keep`: what both views are identified by; annotations are the largest part of the rest. */
export function leanOf({ apiGroup }: Groups): (object: KubeObject) => KubeObject {
  return (object) => {
    const { metadata, ...rest } = named(object, 'uid', 'creationTimestamp', 'ownerReferences');
    const needed = Object.entries(object.metadata.annotations ?? {}).filter(
      ([key]) => key === `${apiGroup}/metadata` || key === LAST_APPLIED,
    );
    return { ...rest, metadata: { ...metadata, annotations: Object.fromEntries(needed) } };
  };
}

/**
 * Joins what the v3 API shows of a kind with what is stored of it: a UID there is the stored one, or the converted one. `objects` are owned
 * only by notes, as what both views show is searched where it is stored; `hidden` note owners, and the v3 API does not show them with these.
 */
export function joinViews(shown: readonly OwnedObject[], stored: readonly StoredView[], groups: Groups) {
  const byUid = new Map(stored.flatMap((one) => [one.uid, convertUid(one.uid) ?? one.uid].map((uid) => [uid, one] as const)));
  const seen = new Set<StoredView>();
  const objects = shown.flatMap((owned): readonly OwnedObject[] => {
    const behind = byUid.get(owned.object.uid);
    if (behind) seen.add(behind);
    if (behind && behind.noted === undefined) return [];
    return [behind ? { ...owned, object: objectOf(owned.object, behind), ...(behind.noted ? { noted: behind.noted } : {}) } : owned];
  });
  return { objects, hidden: stored.filter((one) => !seen.has(one) && namesOurs(one, groups)) };
}

function objectOf(object: JournalObject, { uid, madeAt }: StoredView): JournalObject {
  return { ...object, backingUid: uid, ...(madeAt ? { madeAt } : {}) };
}

function namesOurs({ noted = [] }: StoredView, { apiGroup, crdGroup }: Groups): boolean {
  return noted.some(({ apiVersion }) => [apiGroup, crdGroup].includes(groupOf(apiVersion)));
}

/** Those that are still there, and still note owners: the two lists were not asked for in one moment. */
export async function stillHidden(
  cluster: Pick<ClusterReader, 'get'>,
  { v3, crd }: TwoViews,
  hidden: readonly StoredView[],
  groups: Groups,
): Promise<readonly StoredView[]> {
  const found = await eachOf(hidden, 8, async (one) => {
    const now = await attempt(() => cluster.get(crd, one.name, one.namespace));
    const stored = 'value' in now ? now.value && storedView(now.value, groups) : one;
    if (stored === undefined || stored.uid !== one.uid || !namesOurs(stored, groups)) return [];
    const shown = await attempt(() => cluster.get(v3, one.name, one.namespace));
    const uid = 'value' in shown ? shown.value?.metadata.uid : undefined;
    return uid !== undefined && (uid === one.uid || uid === convertUid(one.uid)) ? [] : [one];
  });
  return found.flat();
}

export function placeText({ kind }: Pick<Kind, 'kind'>, { namespace, name }: Place): string {
  return `${kind}/${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** The stored object behind a recorded one of the v3 API that does not answer to its name; undefined if it is gone. */
export async function behindName(
  cluster: Pick<ClusterReader, 'get'>,
  crd: Kind,
  { name, namespace, backingUid }: JournalObject,
  prefix: string | undefined,
): Promise<KubeObject | undefined> {
  for (const stored of prefix === undefined ? [name] : [name, `${prefix}${name}`]) {
    const object = await cluster.get(crd, stored, namespace);
    if (object?.metadata.uid === backingUid) return object;
  }
  return undefined;
}

/** `projectcalico.org/v3` of a kind with two views; undefined for what has only one. */
export function viewOf({ apiVersion, plural }: JournalObject, views: readonly TwoViews[]): TwoViews | undefined {
  return views.find(({ v3 }) => v3.plural === plural && groupOf(apiVersionOf(v3)) === groupOf(apiVersion));
}
