import { type Effects, stepsLeftIn } from '../../kernel/action.ts';
import { counted } from '../../kernel/counted.ts';
import { type ExitName, Fault } from '../../kernel/fault.ts';
import type { PlannedStage } from '../../kernel/plan.ts';

/** Steps that only the user can do, in the order of the stages: those that a stage waits for, and those that nothing here can see done. */
export function leftToPerson(plans: readonly PlannedStage[]): readonly string[] {
  return asksOf(plans).map(({ instruction }) => instruction);
}

/** The command of the first of them that has one. */
export function nextOfPerson(plans: readonly PlannedStage[]): string | undefined {
  return asksOf(latestOf(plans)).find(({ next }) => next !== undefined)?.next;
}

/** Of a stage that was planned several times, the last plan counts: what an earlier one asked for has been done since. */
export function latestOf(plans: readonly PlannedStage[]): readonly PlannedStage[] {
  return plans.filter(({ id }, index) => index === plans.findLastIndex((one) => one.id === id));
}

function asksOf(plans: readonly PlannedStage[]): readonly Effects['ask'][] {
  return plans.flatMap(({ actions }) => actions).flatMap(({ effect }) => (effect.type === 'ask' ? [effect] : []));
}

/** A command of one stage with manual steps left stops with exit 5, unlike a chain. Undefined if none are left or it failed. */
export function stopForPerson(exit: ExitName, plans: readonly PlannedStage[], stages: number): Fault | undefined {
  if (exit !== 'done' || stages > 1 || stepsLeftIn(plans.flatMap(({ actions }) => actions)) === 0) return undefined;
  const left = leftToPerson(plans);
  return new Fault('stopped', `${counted(left.length, 'manual step')} left`, [
    ...left,
    'then run the same command again: it shows what is still open',
  ]);
}
