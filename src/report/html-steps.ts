import type { ActionText } from '../kernel/effect-type.ts';
import type { PlannedStage } from '../kernel/plan.ts';
import type { ActionTrace, RunHistory } from '../kernel/run-history.ts';
import { elapsedText } from '../kernel/time-text.ts';
import { LEFT_TO_PERSON } from './action-text.ts';
import { clip } from './columns.ts';
import { type Html, html } from './html.ts';

const STEPS = 2000;
/** Characters of a command: shown as it is, the beginning of a longer one, and what is shown at most. */
const LONG = 400;
const BRIEF = 120;
const LONGEST = 8000;

/** One step: as it was run, or as it would be. */
interface Step {
  readonly stage: string;
  readonly title: string;
  readonly command: string;
  readonly outcome: string;
  readonly startedAt: string;
  readonly took: string;
  readonly detail: string;
}

/** What only a person can do, as the last plan of each stage has it. */
export function manualSection(plans: readonly PlannedStage[]): Html | undefined {
  const latest = plans.filter(({ id }, index) => index === plans.findLastIndex((one) => one.id === id));
  const steps = latest.flatMap(({ actions }) => actions).flatMap(({ effect }) => (effect.type === 'ask' ? [effect.instruction] : []));
  if (steps.length === 0) return undefined;
  return html`<section id="manual"><h2>Manual steps</h2><ul>${[...new Set(steps)].map((one) => html`<li>${one}</li>`)}</ul></section>
`;
}

/** Every command and patch: what was run with its result, or, where nothing was, what the plan has. */
export function stepsSection(plans: readonly PlannedStage[], history: RunHistory | undefined, textOf: ActionText): Html | undefined {
  const ran = history?.actions ?? [];
  const steps = ran.length > 0 ? ran.map(stepOf) : planned(plans, textOf);
  if (steps.length === 0) return undefined;
  const more = steps.length - STEPS;
  return html`<section id="steps"><h2>${ran.length > 0 ? 'Commands as they were run' : 'Commands of the plan'}</h2>
<div class="wide" tabindex="0" role="region" aria-label="commands"><table class="found"><thead><tr><th scope="col">Stage</th><th scope="col">Step</th><th scope="col">Result</th></tr></thead>
<tbody>${steps.slice(0, STEPS).map(row)}</tbody></table></div>${more > 0 ? html`<p>and ${more} more, all in the JSON report</p>` : ''}
${notesPart(history)}</section>
`;
}

function stepOf(trace: ActionTrace): Step {
  const { stage, title, startedAt, durationMs, command = '', detail = '' } = trace;
  const outcome = trace.outcome === 'left-to-person' ? LEFT_TO_PERSON : trace.outcome;
  return { stage, title, outcome, startedAt, detail, command, took: durationMs === undefined ? '' : elapsedText(durationMs) };
}

function planned(plans: readonly PlannedStage[], textOf: ActionText): readonly Step[] {
  return plans.flatMap(({ id, actions }) =>
    actions.map((action) => {
      const { title } = action;
      return { stage: id, title, command: textOf(action), outcome: 'planned', startedAt: '', took: '', detail: '' };
    }),
  );
}

function row({ stage, title, command, outcome, startedAt, took, detail }: Step): Html {
  const kind = outcome === LEFT_TO_PERSON ? 'left' : ['done', 'failed', 'running'].includes(outcome) ? outcome : 'other';
  return html`<tr><th scope="row">${stage}</th><td>${title}${commandPart(command)}</td>
<td class="s-${kind}">${outcome}<br><small>${startedAt} ${took}</small>${detail === '' ? '' : html`<pre>${detail}</pre>`}</td></tr>
`;
}

/** Patches of whole fields are pages long: those are behind a fold. */
function commandPart(command: string): Html | undefined {
  if (command === '') return undefined;
  if (command.length <= LONG) return html`<br><code>${command}</code>`;
  return html`<details><summary><code>${clip(command, BRIEF)}</code></summary><code>${clip(command, LONGEST)}</code></details>`;
}

function notesPart(history: RunHistory | undefined): Html | undefined {
  const notes = history?.notes ?? [];
  if (notes.length === 0) return undefined;
  return html`<h3>Said on the way</h3><ul>${notes.map(({ at, stage, level, text }) => html`<li>${at} ${stage} ${level}: ${text}</li>`)}</ul>`;
}
