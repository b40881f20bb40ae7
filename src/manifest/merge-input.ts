import type { Conflict, Edit, Side, Writer } from '../kernel/edit.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { MergeKnowledge } from '../kernel/profile.ts';
import type { FieldOwner } from '../kube/field-paths.ts';
import type { ListRules } from '../kube/list-keys.ts';

/** By identity. */
export type Objects = ReadonlyMap<string, KubeObject>;

/** Two states of one object between which changes in the cluster lie. */
export interface LiveState {
  /** What was applied last (else the release's own document), with the server's defaults. */
  readonly before: KubeObject;
  /** What is live. */
  readonly now: KubeObject;
}

export interface MergeInput {
  /** The release's own manifest of the installed version and variant. */
  readonly base: readonly KubeObject[];
  /** What the user applied, as kubectl noted it on each object; or, without a cluster, their file. */
  readonly mine: readonly KubeObject[];
  /** Their file besides what the cluster shows: it may be older than the last apply, or lost in the cluster. */
  readonly file?: readonly KubeObject[];
  /** Which of the two `mine` is; `file` if not said. Beside `file` it is what kubectl noted. */
  readonly mineIs?: 'file' | 'last-applied';
  /** The target release's manifest. */
  readonly theirs: readonly KubeObject[];
  /** Objects as they are in the cluster; one that `mine` does not have counts as the release's own with these changes. */
  readonly live?: readonly LiveState[];
  /** By identity, objects of the user's that the cluster lacks; `unserved`: it lacks their kind in that version, too. */
  readonly away?: ReadonlyMap<string, 'absent' | 'unserved'>;
  /** How the merging server identifies list items; what it lacks is in the table. */
  readonly listRules?: ListRules;
  /** Who writes fields on their own, by the field's owner; all other changes are the user's. */
  readonly writerOf?: (owner: FieldOwner) => Writer | undefined;
  /** Decisions, by the `field` of a conflict. */
  readonly resolutions?: Readonly<Record<string, Side>>;
  readonly knowledge?: MergeKnowledge;
}

export interface MergeResult {
  /** The target with the carried edits: the target's objects in its order, then what the user added. */
  readonly documents: readonly KubeObject[];
  /** Every edit, each with exactly one outcome. */
  readonly edits: readonly Edit[];
  /** What is still to be decided; while there is one, nothing may be applied. */
  readonly conflicts: readonly Conflict[];
  /** What the user should know although it is no edit, as sentences. */
  readonly notes: readonly string[];
  /** Resolutions that no conflict asked for. */
  readonly unused: readonly string[];
}
