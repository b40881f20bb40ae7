import type { Check, Reading } from '../../kernel/check.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { JournalEntry, Lacking } from '../../kernel/journal.ts';
import { groupOf, type ObjectRef } from '../../kernel/object.ts';
import type { AccessRequest, ClusterReader } from '../../kernel/ports.ts';
import { POLICY_KINDS, type PoliciesSettled } from '../policies/index.ts';
import { attempt, resourcesOf } from '../survey/index.ts';
import type { JournalOwner } from './journal-entries.ts';
import { type OwnedFate, type OwnerWorld, ownerPlace, type ReferenceFate } from './owner-fate.ts';
import { type UnreadKind, unreadKind } from './undiscovered.ts';

/** Every reference to the service's resources, and whether it is removed before the upgrade. */
export interface OwnerReferences {
  readonly objects: readonly OwnedFate[];
  /** Kinds of dependents or owners that could not be read. */
  readonly unread: readonly { readonly kind: string; readonly because: string }[];
  readonly kinds: number;
}

/** What is wrong with the journal of owner references. */
export interface JournalFound {
  /** What the run record says that was removed, where the journal does not hold it (any more). */
  readonly lacking?: Lacking;
}

/** What the checks of stages that change UIDs look at. */
export interface OwnersJudged extends JournalFound {
  /** Undefined where nothing on the way changes a UID: nothing was searched then. */
  readonly references: OwnerReferences | undefined;
  /** The v3 API alone could not be searched, and the resumed run has replaced its server. */
  readonly apiReplaced?: boolean;
  /** What the journal says is removed. */
  readonly recorded: readonly JournalEntry[];
  /** Of what was removed just now: objects whose applied manifests name these owners. */
  readonly manifests?: readonly LeftAlone[];
  /** Absent where nothing is searched. */
  readonly rights?: OwnerRights;
  /** Workloads that go by the name of a field manager which put a reference back. */
  readonly controllers?: readonly PausableController[];
}

/** A running workload that may be the controller behind a field manager. */
export interface PausableController {
  readonly manager: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
}

/** Something that is not put back as it was, and why. */
export interface LeftAlone {
  readonly object: ObjectRef;
  readonly text: string;
  readonly detail: string;
}

/** A reference that garbage collection takes for dead. */
export interface Dangling extends LeftAlone {
  /** Its owner is there, and not found by its name. */
  readonly isMute?: true;
  /** `ownerrefs strip` records it and removes it; any other is corrected manually. */
  readonly isStripped: boolean;
}

/** What the checks of `ownerrefs restore` and `forget` look at. */
export interface RestoreJudged extends JournalFound {
  /** True if no reference is recorded as removed. */
  readonly idle: boolean;
  readonly unread: OwnerReferences['unread'];
  readonly ownerGone: readonly LeftAlone[];
  readonly changed: readonly LeftAlone[];
  /** Owners whose UID is not the one that was computed: `NetworkSet/shop/frontends`. */
  readonly otherOwners: readonly { readonly text: string; readonly detail: string }[];
  /** No old API server explains these others: owners of its group have the new UIDs, or none of its group differs. */
  readonly someAsExpected: boolean;
  /** References whose owners the API does not find by their names. */
  readonly unaddressed: readonly LeftAlone[];
  /** The controllers of this installation never rename policies: nobody has to wait for it. */
  readonly neverRenamed: boolean;
  /** The switch of the renaming, where the controllers have one. */
  readonly hold: PoliciesSettled['hold'];
  /** Objects whose references are held policies: they become dangling when the renaming is released. */
  readonly namingHeld: number;
  /** Objects whose applied manifests name owners with the old UIDs. */
  readonly manifests: readonly LeftAlone[];
  /** Kinds of owners whose finalizers this account may not update. */
  readonly finalizers: readonly string[];
  /** Objects that still lack references, or of which nobody could see whether they do. */
  readonly outstanding: number;
  /** Those of them that `ownerrefs restore` does not change, each with the finding that says why. */
  readonly stayOff: readonly LeftAlone[];
  /** Nothing of the upgrade has begun: references are compared by the old UIDs. */
  readonly asBefore: boolean;
  /** Kinds of the journal's objects and owners that could not be read. */
  readonly unreadRecorded: readonly string[];
  readonly dangling: readonly Dangling[];
}

/** What this account lacks to remove references and to restore them. */
export interface OwnerRights {
  readonly denied: readonly AccessRequest[];
  /** What it lacks besides where the API server runs OwnerReferencesPermissionEnforcement. */
  readonly enforced: readonly AccessRequest[];
  /** Whether it does; undefined where nobody could see. */
  readonly isEnforced: boolean | undefined;
}

declare module '../survey/facts.ts' {
  interface PreflightFacts {
    readonly owners: Reading<OwnersJudged>;
  }
}

export type OwnersCheck = Check<OwnersJudged>;
export type RestoreCheck = Check<RestoreJudged>;
export type JournalCheck = Check<JournalFound>;

type Asked = Pick<ClusterReader, 'discover' | 'get'>;
type OwnerName = Pick<JournalOwner, 'group' | 'kind' | 'namespace' | 'name'>;

export function ownerKey({ group, kind, namespace = '', name }: OwnerName): string {
  return `${group}|${kind}|${namespace}|${name}`;
}

/**
 * Owners that a list shows and a read by name does not find: policies under old names while the new API server serves. The garbage
 * collector reads by name, so it would count them as deleted (§4.8/3; host endpoint notes 0.5). `isAfter` adds policies whose renaming is
 * held: references to them wait for the new name.
 */
export async function muteOwners(
  cluster: Asked,
  entries: readonly JournalEntry[],
  world: OwnerWorld,
  isAfter = false,
): Promise<ReadonlySet<string>> {
  const doubtful = entries.flatMap(({ owners }) => owners.filter((owner) => isDoubtful(owner, world)));
  const found = await foundByName(cluster, doubtful);
  const mute = doubtful.filter((owner) => {
    const reading = found.get(ownerKey(owner));
    const kind = world.kinds[owner.kind];
    const place = ownerPlace(owner.namespace, owner.name);
    // Some older releases show it under its stored name, and find it by either.
    const shown = world.back && kind?.served?.get(ownerPlace(owner.namespace, kind.stored?.get(place)?.storedName ?? ''));
    return !reading || 'unread' in reading || reading.value !== (kind?.served?.get(place) ?? shown);
  });
  const held = isAfter ? entries.flatMap(({ owners }) => owners.filter((owner) => isHeld(owner, world))) : [];
  return new Set([...mute, ...held].map(ownerKey));
}

/** A stored policy that waits for its new name: then references to it are dangling within milliseconds (domain §7.2b). */
function isHeld({ group, kind, namespace, name }: JournalOwner, { crdGroup, kinds, renames }: OwnerWorld): boolean {
  return renames && group === crdGroup && kinds[kind]?.stored?.get(ownerPlace(namespace, name))?.renamePending === true;
}

function isDoubtful({ group, kind, namespace, name }: JournalOwner, { apiGroup, kinds, back }: OwnerWorld): boolean {
  const stored = kinds[kind]?.stored?.get(ownerPlace(namespace, name));
  return group === apiGroup && POLICY_KINDS.has(kind) && (back?.prefix !== undefined || stored?.storedName !== name);
}

/** The same of what objects name now, outside the journal; a kind whose owners do not answer counts as unread. */
export async function withMute(cluster: Asked, references: OwnerReferences): Promise<OwnerReferences> {
  const nameOf = ({ reference: { apiVersion, kind }, owner }: ReferenceFate): OwnerName => ({ group: groupOf(apiVersion), kind, ...owner });
  const isAsked = ({ isDoubtful, reference, servedUid }: ReferenceFate) => isDoubtful && reference.uid === servedUid;
  const asked = references.objects.flatMap(({ fates }) => fates.filter(isAsked).map(nameOf));
  if (asked.length === 0) return references;
  const found = await foundByName(cluster, asked);
  const judged = (one: ReferenceFate): ReferenceFate => {
    const reading = isAsked(one) ? found.get(ownerKey(nameOf(one))) : undefined;
    return reading && 'value' in reading && reading.value !== one.reference.uid ? { ...one, isMute: true } : one;
  };
  const unread = asked.flatMap((one): readonly UnreadKind[] => {
    const reading = found.get(ownerKey(one));
    return reading && 'unread' in reading ? [unreadKind(`${one.kind}.${one.group}`, reading)] : [];
  });
  const objects = references.objects.map(({ owned, fates }) => ({ owned, fates: fates.map(judged) }));
  return { ...references, objects, unread: [...references.unread, ...unread] };
}

/** The UID under which the API finds each owner by its name, as the garbage collector asks, by `ownerKey`; undefined where it finds none. */
async function foundByName(cluster: Asked, owners: readonly OwnerName[]): Promise<ReadonlyMap<string, Reading<string | undefined>>> {
  const asked = new Map(owners.map((one) => [ownerKey(one), one]));
  if (asked.size === 0) return new Map();
  const { kinds } = await cluster.discover();
  return new Map(
    await eachOf([...asked], 8, async ([key, { group, kind, namespace, name }]) => {
      const [resource] = resourcesOf(kinds, group, kind);
      const reading: Reading<string | undefined> = resource
        ? await attempt(async () => (await cluster.get(resource, name, namespace))?.metadata.uid)
        : { unread: 'the server does not serve it' };
      return [key, reading] as const;
    }),
  );
}
