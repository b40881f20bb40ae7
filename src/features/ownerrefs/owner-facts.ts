import type { Check } from '../../kernel/check.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import type { JournalEntry, Lacking } from '../../kernel/owner-journal.ts';
import type { PoliciesSettled } from '../policies/index.ts';
import type { OwnerRights } from '../survey/index.ts';
import type { OwnedFate } from './owner-fate.ts';

/** Every reference to the service's resources, with what becomes of it. */
export interface OwnerReferences {
  readonly objects: readonly OwnedFate[];
  /** Kinds of dependents or owners that could not be read. */
  readonly unread: readonly { readonly kind: string; readonly because: string }[];
  readonly kinds: number;
}

/** Where the journal of owner references was read, if not where it belongs. */
export interface JournalFound {
  /** The local copy, where the cluster has no journal. */
  readonly copy?: string;
  /** Other namespaces that hold one, asked where the state namespace has none; null where this account may not look. */
  readonly elsewhere?: readonly string[] | null;
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
  /** No old API server is why these are others: owners of its group have the UIDs of after the upgrade, or none of its group is another. */
  readonly someAsExpected: boolean;
  /** References whose owners the API does not find by their names. */
  readonly unaddressed: readonly LeftAlone[];
  /** The controllers of this installation never rename policies: nobody has to wait for it. */
  readonly neverRenamed: boolean;
  /** The switch of the renaming, where the controllers have one. */
  readonly hold: PoliciesSettled['hold'];
  /** Objects that still name policies which wait for their new names: they die when nobody holds the renaming any more. */
  readonly namingHeld: number;
  /** Objects whose applied manifests name owners with the old UIDs. */
  readonly manifests: readonly LeftAlone[];
  /** Kinds of owners whose finalizers this account may not update. */
  readonly finalizers: readonly string[];
  /** Objects that still lack references, or of which nobody could see whether they do. */
  readonly outstanding: number;
  /** Those of them that `ownerrefs restore` does not change, each with the finding that says why. */
  readonly stayOff: readonly LeftAlone[];
  /** Nothing of the upgrade has begun: what is back has the old UIDs, and is looked at by them. */
  readonly asBefore: boolean;
  /** Kinds of the journal's objects and owners that could not be read. */
  readonly unreadRecorded: readonly string[];
  readonly dangling: readonly Dangling[];
}

export type OwnersCheck = Check<OwnersJudged>;
export type RestoreCheck = Check<RestoreJudged>;
export type JournalCheck = Check<JournalFound>;
