import type { ObjectRef } from './object.ts';

/** A difference between what a person runs and the manifest of the installed release (§4.4/1). */
export interface Edit {
  readonly ref: ObjectRef;
  /** `spec.template.spec.containers[calico-node].env[IP].value`; `` for a whole object. */
  readonly path: string;
  /** Value in the installed release's own manifest; undefined = absent there. */
  readonly base?: unknown;
  /** Value that the person's cluster has; undefined = removed by the person. */
  readonly mine?: unknown;
  /** Value after the planned upgrade; undefined = absent. */
  readonly theirs?: unknown;
  /** Where it was found: in the file the person applied, or changed live since. */
  readonly source: 'manifest' | 'live';
  /** `kept`: still so after the upgrade. `lost`: the upgrade would undo it. `obsolete`: its place is gone in the target. */
  readonly status: 'kept' | 'lost' | 'obsolete';
  /** For live edits: the field manager that made it. */
  readonly manager?: string;
}
