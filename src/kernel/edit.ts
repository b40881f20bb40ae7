import type { ObjectRef } from './object.ts';

/** Where an edit was found. */
export interface EditSource {
  /** `file`: a manifest that the user gave; `last-applied`: what kubectl noted on the object; `live`: changed in the cluster since. */
  readonly kind: 'file' | 'last-applied' | 'live';
  /** Who changed it, if the server knows. Removals leave no owner behind. */
  readonly manager?: string;
  /** Who stands behind that manager, where it is nobody's edit but a controller's own: `a HorizontalPodAutoscaler`. */
  readonly writer?: string;
}

/** Somebody who writes a field by itself, and again: no user's edit. */
export interface Writer {
  /** `a HorizontalPodAutoscaler`, `cert-manager` */
  readonly name: string;
  /** It follows the load: its number of now is as good as the release's, and better than none. */
  readonly scales: boolean;
}

/**
 * What became of an edit: `kept` in the result, `already` in the target, `obsolete` (no place there), `conflict` (undecided, so the
 * target's), `left` in the cluster only (a controller's). `target`: always the target's, such as definitions, accounts, bindings, needed
 * permissions and unknown fields.
 */
export type EditOutcome = 'kept' | 'already' | 'obsolete' | 'conflict' | 'target' | 'left';

export type Side = 'mine' | 'theirs';

/** One edit and what became of it; a Secret's values are never in it. */
export interface Edit {
  readonly ref: ObjectRef;
  /** `spec.template.spec.containers[calico-node].env[IP].value`; `` for a whole object. */
  readonly path: string;
  readonly change: 'add' | 'change' | 'remove';
  /** Absent members are absent fields. */
  readonly base?: unknown;
  readonly mine?: unknown;
  readonly theirs?: unknown;
  /** What the field will be, where that is neither value as it stands: an image keeps its registry and gets the new tag. */
  readonly result?: unknown;
  readonly source: EditSource;
  readonly outcome: EditOutcome;
  /** The user's own decision, where one was needed. */
  readonly decided?: Side;
  /** Of an obsolete edit, where known: when the release dropped what it was made to. */
  readonly dropped?: Dropped;
  /** What the user should know besides, as a sentence. */
  readonly note?: string;
}

/** Of the releases whose manifests are at hand, the first without it and the last with it; others may lie between. */
export interface Dropped {
  readonly since: string;
  readonly lastIn: string;
}

/** An edit that only the user can decide on, at its first place: images of one repository may stand in several. */
export interface Conflict extends Pick<Edit, 'ref' | 'path' | 'base' | 'mine' | 'theirs'> {
  /** What `--resolve FIELD=mine|theirs` takes: `DaemonSet/kube-system/calico-node:spec…`; of images, one for all of a repository. */
  readonly field: string;
  /** Why nobody but the user can tell, as a sentence. */
  readonly because: string;
}
