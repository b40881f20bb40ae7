import { stepsLeftIn } from '../../kernel/action.ts';
import { counted } from '../../kernel/counted.ts';
import { latestOf } from '../../kernel/plan.ts';
import { plainText, type Said } from '../../kernel/step.ts';
import { clip } from '../../report/columns.ts';
import { findingsLines } from '../../report/findings.ts';
import { stateText, summaryTable } from '../../report/table.ts';
import { PROOFS } from '../command-names.ts';
import { type EndView, successLine } from './end-lines.ts';
import type { Outcome } from './run.ts';
import { leftToPerson } from './run.ts';

interface RunView extends EndView {
  readonly wide: boolean;
  /** The checks are the point: all of them are shown. */
  readonly full: boolean;
  readonly advice?: boolean;
  /** Where on this screen stands what stopped the run. */
  readonly reason?: 'beside' | 'below';
  /** What passed is one line of its group. */
  readonly folded?: boolean;
}

/** The end of a run for the user: how it ended, what is open, and the manual steps left; what stopped it comes last. */
export function runLines(outcome: Outcome, view: RunView): readonly string[] {
  const findings = shownFindings(outcome, view);
  const checks = findings.length > 0 ? findingsLines(findings, { ...view, openOnly: !view.full && !view.wide }) : [];
  if (outcome.stages.length === 0 || (view.full && outcome.stages.length === 1)) return checks;
  const table = summaryTable(
    ['STAGE', 'STATE', 'WHY'],
    outcome.stages.map((stage) => rowOf(stage, outcome, view)),
  );
  const steps = stepsLeft(outcome);
  const left = steps.map((step) => view.palette.warn(`MANUAL STEP  ${view.palette.said(step)}`));
  if (outcome.exit !== 'done') return [...checks, ...table, ...left];
  return [...table, ...(isWhole(outcome) ? [successLine(outcome, view, steps.length)] : []), ...checks, ...left];
}

/** Where a run has stopped, warnings of the plan that was just confirmed would hide the reason. */
function shownFindings({ exit, stages, findings }: Outcome, { advice, full, wide }: RunView): Outcome['findings'] {
  const isNew = exit === 'done' || stages.length === 0 || advice || full || wide;
  return isNew ? findings : findings.filter(({ outcome }) => outcome === 'error');
}

/** A part of the chain has no proof in it. */
function isWhole({ stages }: Outcome): boolean {
  return stages.length > 1 && stages.some(({ id }) => PROOFS.includes(id));
}

/** Columns of a reason that stands whole in the error. */
const WHY_WIDTH = 72;

/** A stage that waits for the user has done its own part, and is not done. */
function rowOf(
  { id, state, because = '', undo }: Outcome['stages'][number],
  { plans, message, stoppedAt }: Outcome,
  { reason }: RunView,
): readonly string[] {
  if (reason !== undefined && because !== '' && message !== undefined && stoppedAt === id)
    return [id, state, reason === 'below' ? 'see below' : clip(because, WHY_WIDTH)];
  const latest = plans.findLast((plan) => plan.id === id);
  const left = latest && state === 'done' ? stepsLeftIn(latest.actions) : 0;
  return left === 0 ? [id, stateText({ state, undo }), because] : [id, 'manual', `${counted(left, 'manual step')} left`];
}

/** Manual steps at the end of a run, without those that its error names. */
function stepsLeft({ exit, plans, steps }: Outcome): readonly Said[] {
  if (exit !== 'done' && exit !== 'stopped') return [];
  const told = new Set(steps.map(({ plain }) => plain));
  const left = new Map(leftToPerson(latestOf(plans)).map((step) => [plainText(step), step]));
  return [...left].flatMap(([plain, step]) => (told.has(plain) ? [] : [step]));
}
