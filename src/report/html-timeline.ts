import { elapsedText } from '../kernel/time-text.ts';
import { type Html, html } from './html.ts';
import type { ReportStage } from './report-facts.ts';

/** The stages on one axis of time, and the same as a table. */
export function timelineSection(stages: readonly ReportStage[]): Html | undefined {
  if (stages.length === 0) return undefined;
  const times = stages.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]).map((text) => Date.parse(text ?? ''));
  const known = times.filter((time) => Number.isFinite(time));
  const [from, to] = [Math.min(...known), Math.max(...known)];
  const rows = stages.map((stage) => stageRow(stage, from, Math.max(1, to - from)));
  return html`<section id="stages"><h2>What happened when</h2>
<div class="wide" tabindex="0" role="region" aria-label="stages"><table class="timeline"><thead><tr><th scope="col">Stage</th><th scope="col">State</th><th scope="col">Began</th><th scope="col">Took</th><th scope="col">On the axis of time</th><th scope="col">Why</th></tr></thead>
<tbody>${rows}</tbody></table></div></section>
`;
}

function stageRow(stage: ReportStage, from: number, whole: number): Html {
  const { id, state, startedAt = '', endedAt = '', because } = stage;
  const [began, ended] = [Date.parse(startedAt), Date.parse(endedAt)];
  const took = Number.isFinite(ended - began) ? Math.max(0, ended - began) : undefined;
  const bar = Number.isFinite(began) ? barOf(state, began - from, took ?? 0, whole) : '';
  const kind = ['done', 'failed', 'skipped', 'running', 'interrupted'].includes(state) ? state : 'other';
  return html`<tr><th scope="row">${id}</th><td class="s-${kind}">${state}</td><td data-name="began">${startedAt}</td><td data-name="took">${took === undefined ? '' : elapsedText(took)}</td><td class="axis">${bar}</td><td class="why">${because}</td></tr>
`;
}

function barOf(state: string, offset: number, took: number, whole: number): Html {
  const percent = (part: number) => Math.round(Math.min(1, Math.max(0, part / whole)) * 1000) / 10;
  const [left, width] = [percent(offset), Math.max(0.5, percent(took))];
  const kind = ['failed', 'interrupted'].includes(state) ? 'failed' : state === 'skipped' ? 'skipped' : 'done';
  return html`<span class="bar b-${kind}" aria-hidden="true" style="margin-left:${Math.min(99, left)}%;width:${Math.min(width, 100 - Math.min(99, left))}%"></span>`;
}
