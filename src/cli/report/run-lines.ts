import { counted } from '../../kernel/counted.ts';
import type { Palette } from '../../report/colour.ts';
import { findingsLines } from '../../report/findings.ts';
import { summaryTable } from '../../report/table.ts';
import { awaitedOfPerson, leftToPerson } from './left-to-person.ts';
import type { Outcome } from './run.ts';

/** The end of a run for a person: the checks (all of them where they are the point), then one row per stage, unless the checks are all there is. */
export function runLines(
  outcome: Outcome,
  view: { readonly palette: Palette; readonly wide: boolean; readonly full: boolean; readonly advice?: boolean },
): readonly string[] {
  const checks = outcome.findings.length > 0 ? findingsLines(outcome.findings, { ...view, openOnly: !view.full && !view.wide }) : [];
  if (outcome.stages.length === 0 || (view.full && outcome.stages.length === 1)) return checks;
  return [
    ...checks,
    ...summaryTable(
      ['STAGE', 'STATE', 'WHY'],
      outcome.stages.map((stage) => rowOf(stage, outcome)),
    ),
    ...byHand(outcome).map((step) => view.palette.warn(`BY HAND  ${step}`)),
  ];
}

/** A stage that waits for a person has done its own part, and is not done. */
function rowOf({ id, state, because = '' }: Outcome['stages'][number], { plans }: Outcome): readonly string[] {
  const latest = plans.findLast((plan) => plan.id === id);
  const awaited = latest && state === 'done' ? awaitedOfPerson([latest]).length : 0;
  return awaited === 0 ? [id, state, because] : [id, 'by hand', `${counted(awaited, 'step')} left to do by hand`];
}

/**
 * What is left to a person at the end of a run, and what of it the error does not name where a command stopped for that person.
 * Of a stage that was planned several times, the last plan counts: what an earlier one asked for has been done since.
 */
function byHand({ exit, plans, suggestions }: Outcome): readonly string[] {
  if (exit !== 'done' && exit !== 'stopped') return [];
  const latest = plans.filter(({ id }, index) => index === plans.findLastIndex((one) => one.id === id));
  return [...new Set(leftToPerson(latest))].filter((step) => !suggestions.includes(step));
}
