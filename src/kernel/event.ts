import type { Action } from './action.ts';
import type { Finding } from './check.ts';
import type { NetworkTrace } from './connections.ts';
import type { PlannedStage, StepPlace } from './plan.ts';
import type { RolloutProgress } from './rollout.ts';
import type { Said } from './step.ts';
import type { ProbeTrace } from './user-command.ts';

/** What the engine tells its observers. Observers own no control flow. */
export type EngineEvent =
  | { readonly type: 'stage-started'; readonly stage: string; readonly title: string }
  | { readonly type: 'judged'; readonly stage: string; readonly findings: readonly Finding[] }
  /** `durationMs`: what it took to survey, evaluate and plan, where that is all that is done now. */
  | { readonly type: 'planned'; readonly stage: string; readonly plan: PlannedStage; readonly durationMs?: number }
  | { readonly type: 'stage-skipped'; readonly stage: string; readonly because: string }
  /** `place`: in the plan that was agreed to; absent for what was planned since. */
  | { readonly type: 'action-started'; readonly stage: string; readonly action: Action; readonly place?: StepPlace }
  | {
      readonly type: 'action-output';
      readonly stage: string;
      readonly action: Action;
      readonly line: string;
      readonly stream: 'stdout' | 'stderr';
    }
  | { readonly type: 'action-done'; readonly stage: string; readonly action: Action; readonly durationMs: number; readonly detail?: string }
  /** `interrupted`: the user asked for it. `held`: it stops where it was told to. */
  | {
      readonly type: 'action-failed';
      readonly stage: string;
      readonly action: Action;
      readonly message: string;
      readonly interrupted?: boolean;
      readonly held?: boolean;
    }
  | { readonly type: 'rollout'; readonly stage: string; readonly progress: readonly RolloutProgress[]; readonly elapsedMs: number }
  /** How far an action on many objects is; `why` names what lags. */
  | {
      readonly type: 'progress';
      readonly stage: string;
      readonly done: number;
      readonly of: number;
      readonly what: string;
      readonly why?: Said;
    }
  /** The user's probe ended, whatever stage is at work. */
  | { readonly type: 'probe'; readonly probe: ProbeTrace; readonly because?: string }
  /** What the connections have been through, whatever stage is at work. */
  | { readonly type: 'network'; readonly network: NetworkTrace; readonly because?: string }
  | { readonly type: 'stage-done'; readonly stage: string; readonly durationMs: number }
  | { readonly type: 'note'; readonly stage: string; readonly text: Said; readonly level: 'info' | 'warning' };

export type Observer = (event: EngineEvent) => void;
