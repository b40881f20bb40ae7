import type { Action } from './action.ts';
import type { Check, Finding } from './check.ts';
import type { Context } from './context.ts';
import { judgeAll } from './judge.ts';
import type { PlannedObject, PlannedStage } from './plan.ts';
import type { Sources } from './ports.ts';
import type { RunRecord } from './run-record.ts';
import type { Reached } from './undo.ts';

/** Something that a stage keeps, by its id. */
export interface StageKeep {
  readonly id: string;
  readonly content: unknown;
  readonly anew?: boolean;
}

/** What a stage will do; `skip` says in one sentence why it has nothing to do. */
export type StagePlan =
  | {
      readonly skip: string;
      /** What stays although there is nothing to do; shown by `plan`. */
      readonly objects?: readonly PlannedObject[];
    }
  | (Partial<Pick<PlannedStage, 'objects' | 'notes' | 'edits' | 'hosts' | 'twoWay' | 'restarts'>> & {
      readonly actions: readonly Action[];
      /** What comes next depends on what these actions wait for: the stage is planned again after them, though they change nothing. */
      readonly again?: boolean;
      /** Kept beside the run record before the first write of this stage, of one that writes files alone before the first of the run; once per run unless `anew`. Never a Secret's value. */
      readonly keep?: StageKeep;
      /** Kept likewise, for a later stage. */
      readonly keepForLater?: StageKeep;
      /** What the run record must know before the first write of this stage. */
      readonly remember?: Remember;
    });

/** The part of the run record that a stage fills in. */
export interface Remember
  extends Partial<Pick<RunRecord, 'path' | 'dataPlane' | 'variant' | 'oldest' | 'nodes' | 'digests' | 'backup' | 'moved' | 'canary'>> {
  /** Release of the agents: where the run comes from. */
  readonly source?: string | undefined;
}

/** One part of the procedure as a value: it surveys (reads only), evaluates (pure) and plans (pure). Only the engine acts. */
export interface Stage<Facts> {
  /** Of the feature that declares it: the name in reports and in the run record. */
  readonly id: string;
  readonly title: string;
  readonly ref: string;
  /** True for stages that never change anything. */
  readonly readOnly: boolean;
  /** Evaluates the result of the upgrade: its checks make no sense before it. */
  readonly judgesResult?: boolean;
  /** Ids of checks of earlier stages whose findings are over once this stage has ended: it proves the state that they asked for. */
  readonly settles?: readonly string[];
  /** In the chain only when asked for by name (`--include`). */
  readonly optional?: boolean;
  /** What it does is gone when it ends: it takes the lock, but no run begins with it. */
  readonly leavesNothing?: boolean;
  /** Planned again after its actions until nothing is left to do. */
  readonly converges?: boolean;
  /** What it does to parts that forward packets (`kernel/traffic.ts`): restarts agents, or none of them. Absent where it changes what is let through. */
  readonly traffic?: 'agents' | 'untouched';
  /** What undoes what it changed, alone: a copy that it names at its end, or a command. Absent where nothing does, or it changes nothing of the service. */
  readonly undoneBy?: 'copy' | `${string} --undo`;
  /** Takes back what it did, with the same name in reports and records: performed in its place with `--undo`. */
  readonly undo?: AnyStage;
  /** It is performed as the undo of the stage of its name. */
  readonly isUndo?: true;
  /** How far an upgrade is once it has written (`kernel/undo.ts`). */
  readonly reaches?: Reached;
  /** The stage whose removals it puts back. A run that is held to a saved plan may put back whatever that one removes. */
  readonly putsBack?: string;
  /** It installs the release: a plan without it does not tell what the user's edits become. */
  readonly installs?: true;
  /** With `--probe-network` it starts Jobs, which are gone when it ends. */
  readonly probes?: true;
  readonly checks: readonly Check<Facts>[];
  survey(sources: Sources, context: Context): Promise<Facts>;
  plan(facts: Facts, context: Context): StagePlan;
}

/** A stage whose facts have been read: the type of the facts is closed over. */
export interface OpenStage {
  findings(): readonly Finding[];
  plan(): StagePlan;
}

/** A stage of any facts, as the chain holds it. */
export interface AnyStage extends Omit<Stage<never>, 'survey' | 'plan' | 'checks'> {
  readonly checks: readonly Omit<Check<never>, 'judge'>[];
  open(sources: Sources, context: Context): Promise<OpenStage>;
}

/** Closes a stage over its facts, so that stages of different facts can stand in one array. */
export function stage<Facts>(definition: Stage<Facts>): AnyStage {
  const { survey, plan: _, ...rest } = definition;
  return {
    ...rest,
    async open(sources, context) {
      return openedWith(definition, await survey(sources, context), context);
    },
  };
}

/** Evaluation and plan of facts that have been read, each made once: both are pure. */
export function openedWith<Facts>({ checks, plan }: Pick<Stage<Facts>, 'checks' | 'plan'>, facts: Facts, context: Context): OpenStage {
  let [findings, planned]: [readonly Finding[] | undefined, StagePlan | undefined] = [undefined, undefined];
  return {
    findings() {
      findings ??= judgeAll(checks, facts, context);
      return findings;
    },
    plan() {
      planned ??= plan(facts, context);
      return planned;
    },
  };
}
