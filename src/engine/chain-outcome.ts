import type { Finding } from '../kernel/check.ts';
import type { EnginePorts } from '../kernel/effect-type.ts';
import type { ExitName } from '../kernel/fault.ts';
import type { PlannedStage, PlanSteps } from '../kernel/plan.ts';
import type { RunRecord, StageRecord } from '../kernel/run-record.ts';
import type { StagePlan } from '../kernel/stage.ts';
import type { Step } from '../kernel/step.ts';
import type { Sentinel } from '../kernel/user-command.ts';
import type { Looked, Looks } from './plan-chain.ts';

export interface ChainOutcome {
  readonly exit: ExitName;
  readonly findings: readonly Finding[];
  readonly plans: readonly PlannedStage[];
  readonly stages: readonly StageRecord[];
  readonly message?: string;
  readonly steps: readonly Step[];
  /** The message says that nothing was changed. */
  readonly saysUnchanged?: boolean;
  /** Stage that did not end. */
  readonly stoppedAt?: string;
  /** Actions that changed something. */
  readonly writes: number;
  /** Of the run record, if this chain began or continued one. */
  readonly runId?: string;
  /** That record, as it stands now. */
  readonly record?: RunRecord;
  /** What earlier parts of that run wrote, if this chain continued it. */
  readonly earlier?: RunRecord['wrote'];
  /** Release that was installed when that run began. */
  readonly source?: string;
}

export interface RunMore {
  readonly keepsake?: Keepsake;
  readonly announce?: Announce;
  /** Stages that the plan opened a moment ago; reused while nothing has been written. */
  readonly looked?: Looked;
  /** The confirmed plan changes something: the lock is taken before the first stage that may act, not at the first write. */
  readonly changes?: boolean;
  /** Throws Fault('stale') for a plan of a stage that goes beyond what was agreed to; asked before each round of a stage acts. */
  readonly within?: Within;
  /** The check by which the user leaves an unfinished run behind (`--accept`), for stages that do not have it themselves. */
  readonly leavesRun?: string | undefined;
  /** What stops the run besides the user. */
  readonly sentinel?: Sentinel | undefined;
  /** Those of the plan that was agreed to. */
  readonly steps?: PlanSteps;
  /** Where the caller looks at the cluster too, right after the chain. */
  readonly looks?: Looks<EnginePorts>;
}

/** A stage and what one of its rounds would do. */
export type Within = (stage: string, plan: Exclude<StagePlan, { skip: string }>) => void;

/** Announces where a run begins to write and where it ends, right after its record says so. Never rejects. */
export interface Announce {
  begun(record: RunRecord, stage: string, isResumed: boolean): Promise<void>;
  ended(record: RunRecord, outcome: ChainOutcome): Promise<void>;
}

/** What is kept beside the run record about this part of the run; asked for once, at its end. */
export type Keepsake = (outcome: ChainOutcome) => Promise<unknown>;
