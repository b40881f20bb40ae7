import type { Invocation } from './argv.ts';
import type { Command } from './command.ts';
import type { JsonPatchOp, ObjectChange, ObjectRef } from './object.ts';
import type { Said, Step } from './step.ts';
import type { NoReturnPoint } from './undo.ts';

/** Every effect, by its type. Features add their own in `effects.ts`, with what each does and how it is shown (`EffectType`). */
export interface Effects {
  readonly exec: Exec;
  readonly 'patch-all': PatchAll;
  readonly delete: Delete;
  readonly write: Write;
  readonly wait: Wait;
  readonly ask: Ask;
}

/** What an action does, as data: plan, dry run, journal and tests share this form. Only the engine performs it. */
export type Effect = Effects[keyof Effects];

/** What a `wait` action waits for, by type; features add theirs as for `Effects`. */
export interface Expectations {
  readonly 'time-passed': TimePassed;
}

export type Expectation = Expectations[keyof Expectations];

/** What must hold in the moment of a write (`onlyIf`), by its type; all of them are features' own. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface Preconditions {}

export type Precondition = Preconditions[keyof Preconditions];

/** What is asserted before every write of one kind, whatever planned it: by a name, the effect that it guards. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface Guards {}

/** Waits only for time to pass: the stage is then surveyed again. */
export interface TimePassed {
  readonly type: 'time-passed';
  readonly ms: number;
}

/** `program` runs that very file. If `onlyIf` does not hold right before, nothing runs and the stage is planned again. */
export interface Exec {
  readonly type: 'exec';
  readonly run: Invocation;
  readonly program?: string;
  readonly onlyIf?: Precondition;
  /** It has `--dry-run=server` behind its first word: the server is asked, and stores nothing. */
  readonly canAsk?: true;
}

/** One patch of an object, which must still be the one that was read. */
export interface GuardedPatch {
  readonly target: ObjectRef;
  readonly patch: readonly JsonPatchOp[];
  readonly uid: string;
}

/** Many small patches at once, each guarded by itself; those that no longer fit are left and the stage is planned again. */
export interface PatchAll {
  readonly type: 'patch-all';
  readonly patches: readonly GuardedPatch[];
  readonly what: string;
  /** Checked once, right before; if it does not hold, nothing is sent and the stage is planned again. */
  readonly onlyIf?: Precondition;
}

/** Deletes this very object: `target` has its uid. With a version only while nobody has changed it. `onlyIf` as in `Exec`. */
export interface Delete {
  readonly type: 'delete';
  readonly target: ObjectRef;
  readonly resourceVersion?: string;
  readonly onlyIf?: Precondition;
}

export interface Write {
  readonly type: 'write';
  readonly file: string;
  readonly content: string;
}

export interface Wait {
  readonly type: 'wait';
  readonly until: Expectation;
  readonly timeoutMs: number;
}

/** A step only the user can do; the chain continues. `awaited`: a command of that stage alone exits with its code until it is done. */
export interface Ask {
  readonly type: 'ask';
  readonly instruction: Said;
  readonly awaited?: true;
  /** A command that shows what the step is about, or whether it is done. It changes nothing, so that a tired user may paste it. */
  readonly next?: Command;
  /** Only where it is shown: the two as data. */
  readonly steps?: readonly Step[];
}

/** Objects that it deletes. A tool is told so in its own words: what is kept has them as data. */
export function removedBy({ effect, keep }: Pick<Action, 'effect' | 'keep'>): readonly ObjectRef[] {
  if (effect.type === 'delete') return [effect.target];
  return keep?.changes.filter(({ before, after }) => '' in before && !('' in after)).map(({ ref }) => ref) ?? [];
}

/** What survives the action if it has to be taken back. */
export type Undo = 'full' | 'partial' | 'none';

/** A finding, by its check and one thing that it is about (`--accept ID=SUBJECT` names it so). */
export interface Cure {
  readonly check: string;
  /** Absent: the whole finding. */
  readonly subject?: string;
}

/** What an action keeps in the run record: durable before its first write. */
export interface KeptChanges {
  readonly changes: readonly ObjectChange[];
  /** They put back what earlier ones changed. */
  readonly undo?: true;
  /** When the command began. */
  readonly since?: string;
}

/** Steps that a stage leaves to the user and is not done without; one that only advises is done. */
export function stepsLeftIn(actions: readonly Action[]): number {
  const asks = actions.flatMap(({ effect }) => (effect.type === 'ask' ? [effect] : []));
  return asks.some(({ awaited }) => awaited) ? asks.length : 0;
}

export interface Action {
  /** Stable within a stage: `apply/wave-2`. Names the action in the run record and in reports. */
  readonly id: string;
  readonly title: string;
  /** The sentence of the procedure (or of the field notes) that asks for it: `§4.4/2`. */
  readonly ref: string;
  readonly effect: Effect;
  readonly undo: Undo;
  /** Only in a round evaluated a moment ago, with no change before it: else the stage is surveyed and planned again first. */
  readonly afresh?: boolean;
  /** As `afresh`, if the evaluation is older than this (milliseconds), or the action finds that its basis has changed. */
  readonly judgedWithinMs?: number;
  /** Performed once: where the stage is planned again and nothing was written since, it is left out. */
  readonly once?: true;
  /** It watches for so long: the record says since when. */
  readonly watchMs?: number;
  /** From this action on there is no supported undo, for this reason. */
  readonly pointOfNoReturn?: NoReturnPoint;
  /** What it changes and what was there; written to the run record before the action is performed. Never a Secret's value. */
  readonly keep?: KeptChanges;
  /** Whatever becomes of it, nothing of it stays in the cluster: by it alone a stage has written nothing. */
  readonly leavesNothing?: true;
  /** What is no longer true once the action is done: such findings are no longer open at the end of the run. */
  readonly cures?: readonly Cure[];
}
