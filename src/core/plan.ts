import type { Action } from './action.ts';
import type { ObjectRef } from './object.ts';
import type { Trace } from './trace.ts';

export interface FieldChange {
  /** `spec.template.spec.containers[calico-node].image` */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/** What a write will do to one object, predicted by server-side dry run. */
export interface PlannedObject {
  readonly ref: ObjectRef;
  /** `refused`: the API server would reject the write; `note` has its words. */
  readonly change: 'create' | 'update' | 'unchanged' | 'left-behind' | 'refused';
  readonly fields: readonly FieldChange[];
  /** Fields that kubectl's own dry run would not show as removed. */
  readonly hidden: readonly string[];
  /** Fields taken from another manager: path and manager. */
  readonly taken: readonly { readonly path: string; readonly manager: string }[];
  readonly note?: string;
}

/** One field that differs between what is installed and the target, where no base tells whose wish that is. */
export interface TwoWayField {
  readonly ref: ObjectRef;
  readonly path: string;
  readonly live: unknown;
  /** Absent: the field goes. */
  readonly target?: unknown;
  /** Field managers that own it. */
  readonly owners: readonly string[];
}

export interface PlannedStage {
  readonly id: string;
  readonly title: string;
  readonly ref: string;
  readonly skip?: string;
  readonly actions: readonly Action[];
  readonly objects: readonly PlannedObject[];
  readonly notes: readonly string[];
  /** What a person changed and what becomes of it; absent where nothing was looked for. */
  readonly edits?: readonly Trace[];
  /** Only where no base tells edits: what is installed against the target. */
  readonly twoWay?: readonly TwoWayField[];
}

/** A field that somebody set in the cluster and that the upgrade would write over. */
export interface TakenChange {
  readonly ref: ObjectRef;
  readonly path: string;
  readonly mine?: unknown;
  readonly theirs?: unknown;
  readonly manager: string;
}
