import type { Context } from '../kernel/context.ts';
import type { EnginePorts } from '../kernel/effect-type.ts';
import type { Observer } from '../kernel/event.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import type { AnyStage } from '../kernel/stage.ts';
import { Actor } from './act.ts';
import type { RunMore } from './chain-outcome.ts';
import { realExecutor, serverDryRunExecutor } from './execute.ts';
import { Hold } from './hold.ts';
import { Judged } from './judged.ts';
import { Looks } from './looks.ts';
import { Recorder } from './recorder.ts';

/** What the stages of one chain share. */
export interface ChainParts {
  readonly stages: readonly AnyStage[];
  readonly ports: EnginePorts;
  readonly context: Context;
  readonly observe: Observer;
  readonly more: RunMore;
  /** No dry run. */
  readonly live: boolean;
  readonly hold: Hold;
  /** What stages see of the cluster. */
  readonly looks: Looks<EnginePorts>;
  readonly recorder: Recorder;
  readonly judged: Judged;
  readonly actor: Actor;
  /** By stage, as it was before the stage changed anything. */
  readonly plans: Map<string, PlannedStage>;
}

export function chainParts(
  stages: readonly AnyStage[],
  ports: EnginePorts,
  context: Context,
  observe: Observer,
  more: RunMore,
): ChainParts {
  const live = context.options.dryRun === 'none';
  const hold = new Hold(ports);
  const looks = more.looks ?? new Looks(ports);
  const recorder = new Recorder(ports, context, more.announce);
  const judged = new Judged();
  const executor = live ? realExecutor(ports, observe, hold, context.options) : serverDryRunExecutor(ports, observe, hold);
  const actor = new Actor(ports, context, observe, { recorder, executor, hold, judged });
  return { stages, ports, context, observe, more, live, hold, looks, recorder, judged, actor, plans: new Map() };
}
