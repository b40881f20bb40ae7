import type { Action } from './action.ts';
import type { Edit } from './edit.ts';
import type { KubeObject, ObjectRef } from './object.ts';
import type { Said } from './step.ts';
import type { NoReturnPoint } from './undo.ts';

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
  /** Fields taken from another manager: path and manager, and the subresource through which it wrote. */
  readonly taken: readonly { readonly path: string; readonly manager: string; readonly subresource?: string }[];
  /** Who is behind those managers, and who else will put its own state back; absent where nobody is. */
  readonly takers?: readonly Taker[];
  readonly note?: Said;
  /** Id of the action that writes it; absent where all of its stage have a part in it. */
  readonly by?: string;
  /** Pods that its changed template restarts. */
  readonly restarts?: number;
  /** Of a DaemonSet: how many of them at a time; absent where its controller does not begin by itself. */
  readonly atOnce?: number;
  /** What the server says to a pod of its new template, where it does not admit one; absent where no pod is to start. */
  readonly pods?: PodsAnswer;
  /** What a saved plan knows the object by later; absent where it was not read. */
  readonly state?: ObjectState;
  /** For `plan --diff`; absent where only fields are known. Holds values of Secrets, so it is never shown unmasked. */
  readonly bodies?: Bodies;
}

/** An object whole, or the part of it that is known; a side that is absent is not there. */
export interface Bodies {
  readonly before?: KubeObject;
  readonly after?: KubeObject;
  /** `before` is what the chart's release holds, which is not always what is live. */
  readonly isOfRelease?: true;
}

/** `unasked`: the dry run could not be made, which tells nothing of the pods. */
export interface PodsAnswer {
  readonly verdict: 'refused' | 'unasked';
  /** Of the server. */
  readonly words: string;
}

/** Somebody whose say in an object the upgrade takes. */
export interface Taker {
  /** `Argo CD`, `a HorizontalPodAutoscaler`; the field manager itself where nobody knows it. */
  readonly name: string;
  readonly kind: 'gitops' | 'autoscaler' | 'person' | 'other';
  /** Absent where only labels or annotations of the object tell. */
  readonly manager?: string;
  /** Through which it wrote; absent for the object itself. */
  readonly subresource?: string;
  /** How many of its fields are taken. */
  readonly fields: number;
  /** What it will do about it, and what to do before. */
  readonly hint: Said;
}

/** Checksums of an object's content without what changes by itself; of a Secret its resourceVersion, and nothing of what comes. */
export interface ObjectState {
  /** As it is; absent if it is not there. */
  readonly before?: string;
  /** As it will be stored; absent if that is not known. */
  readonly after?: string;
}

/** What the migration to automatic host endpoints does to what is let through to one node, in the worse of its two moments (§7/3). */
export interface PlannedHost {
  readonly node: string;
  readonly verdict: 'same' | 'OPEN' | 'NEWLY POLICED' | 'CHANGED';
  /** When, and what applies before and after, lane by lane; absent where nothing changes. */
  readonly detail?: string;
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

/** Pods that restart because of what a stage does. */
export interface PlannedRestart {
  readonly ref: ObjectRef;
  readonly pods: number;
  readonly atOnce?: number;
}

export interface PlannedStage {
  readonly id: string;
  readonly title: string;
  readonly ref: string;
  readonly skip?: string;
  readonly actions: readonly Action[];
  /** Per object what the actions change. */
  readonly objects: readonly PlannedObject[];
  /** Facts that the user should read before saying yes. */
  readonly notes: readonly Said[];
  /** What the user changed and what becomes of it; absent where nothing was looked for. */
  readonly edits?: readonly Edit[];
  /** sha256 of the artifacts that the stage works with, by file name. */
  readonly digests?: Readonly<Record<string, string>>;
  /** One per node of the cluster; absent where host endpoints are not what the stage is about. */
  readonly hosts?: readonly PlannedHost[];
  /** Only where no base tells edits: what is installed against the target. */
  readonly twoWay?: readonly TwoWayField[];
  /** What it keeps beside the run record before it writes: `edits`. */
  readonly keeps?: string;
  /** Workloads that are none of its objects: an operator restarts them. */
  readonly restarts?: readonly PlannedRestart[];
}

/** Of a stage that was planned several times, the last plan counts: what an earlier one asked for has been done since. */
export function latestOf(plans: readonly PlannedStage[]): readonly PlannedStage[] {
  return plans.filter(({ id }, index) => index === plans.findLastIndex((one) => one.id === id));
}

/** A step by its number in a plan: the same in the plan, in the question, while it runs, where it stops, and later. */
export interface StepPlace {
  readonly stage: string;
  readonly step: number;
  /** Steps of the plan. */
  readonly of: number;
}

/** The step from which on there is no undo, and why. */
export interface NoReturn {
  readonly step: number;
  readonly point: NoReturnPoint;
}

/** The steps of a plan in their order. */
export interface PlanSteps {
  readonly places: readonly (StepPlace & { readonly id: string })[];
  readonly noReturn?: NoReturn;
}

export function planSteps(stages: readonly PlannedStage[]): PlanSteps {
  const steps = stages.flatMap(({ id: stage, actions }) => actions.map((action) => ({ stage, action })));
  const places = steps.map(({ stage, action: { id } }, index) => ({ stage, id, step: index + 1, of: steps.length }));
  const index = steps.findIndex(({ action }) => action.pointOfNoReturn !== undefined);
  const point = steps[index]?.action.pointOfNoReturn;
  return { places, ...(point === undefined ? {} : { noReturn: { step: index + 1, point } }) };
}

/** A field that somebody set in the cluster and that the upgrade would write over. */
export interface TakenChange {
  readonly ref: ObjectRef;
  readonly path: string;
  readonly mine?: unknown;
  readonly theirs?: unknown;
  readonly manager: string;
  /** When that manager wrote last; only of what was set since the run began. */
  readonly time?: string;
}
