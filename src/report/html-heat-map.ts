import { elapsedText } from '../kernel/counted.ts';
import type { RolloutTrace } from '../kernel/history.ts';
import { doneAt, type HeatCell, type HeatMap, type HeatRow, heatMap, nameOf, slowest } from './heat-map.ts';
import { dataBlock, type Html, html } from './html.ts';
import type { RolloutSection, Section } from './model.ts';

/** Rows of the table below the map, and those of them behind a fold; the others are found by the search. */
const LISTED = 50;
const UNFOLDED = 10;
const CELL = 10;
/** How finely the part that is new is drawn. */
const STEPS = 5;
const WORDS = { old: 'old', updating: 'updating', new: 'new', failed: 'failed', gone: 'gone' } as const;

/** Every rolling update: the map, the nodes that took longest, and all of them for the search. */
export function rolloutsSection({ id, title, rollouts }: RolloutSection): Html {
  return html`<section id="${id}"><h2>${title}</h2>
<p class="legend"><span class="c-old">old</span> <span class="c-updating">updating</span> <span class="c-new">new</span> <span class="c-failed">failed</span>
A group of nodes has the colour of the one that needs the most attention.</p>
${rollouts.map(rolloutPart)}</section>
`;
}

/** What the page's search knows of nodes: one block, whatever the number of sections. */
export function rolloutData(sections: readonly Section[]): Html {
  const rollouts = sections.flatMap((one) => (one.kind === 'rollouts' ? one.rollouts : []));
  return rollouts.length === 0 ? html`` : dataBlock('rollout-data', rollouts.map(searchable));
}

function rolloutPart(trace: RolloutTrace): Html {
  const map = heatMap(trace);
  const slow = slowest(trace.rows, LISTED);
  return html`<h3>${trace.workload}</h3>
<p>${summary(trace)}</p>
<figure><div class="wide" tabindex="0" role="region" aria-label="heat map of ${trace.workload}">${picture(trace, map)}</div>
<figcaption>${map.group === 1 ? 'One row per node' : `${map.group} nodes to a row`}, in the order in which they were done; a column is ${elapsedText(map.span * 1000)} long, from ${trace.startedAt}.</figcaption></figure>
<h4>${trace.rows.length > LISTED ? `The ${LISTED} that took longest; search for any other` : 'All of them, the slowest first'}</h4>
${nodeTable(`nodes of ${trace.workload}`, slow.slice(0, UNFOLDED))}${
  slow.length > UNFOLDED
    ? html`<details><summary>the next ${slow.length - UNFOLDED}</summary>${nodeTable(`further nodes of ${trace.workload}`, slow.slice(UNFOLDED))}</details>`
    : ''
}
`;
}

function nodeTable(name: string, rows: RolloutTrace['rows']): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="${name}"><table class="nodes"><thead><tr><th scope="col">Node</th><th scope="col">Ended as</th><th scope="col">After</th><th scope="col">What it went through</th></tr></thead>
<tbody>${rows.map(nodeRow)}</tbody></table></div>
`;
}

function summary({ rows, desired, done, seconds, image, omitted }: RolloutTrace): string {
  const ended = rows.filter((row) => row.marks.at(-1)?.phase === 'new').length;
  const failed = rows.filter((row) => row.marks.at(-1)?.phase === 'failed').length;
  const left = omitted ? ` ${omitted} rows were left out to keep the record small.` : '';
  const state = done ? 'done' : 'not done when this report was made';
  return `${ended} of ${desired} new${failed > 0 ? `, ${failed} failed` : ''} after ${elapsedText(seconds * 1000)}: ${state}. Image ${image}.${left}`;
}

function picture(trace: RolloutTrace, { rows, columns }: HeatMap): Html {
  const [width, height] = [columns * CELL, rows.length * CELL];
  return html`<svg class="heat" role="img" aria-label="${trace.workload}: ${summary(trace)}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" style="height:${Math.max(24, Math.min(640, rows.length * 14))}px">${rows.map(rowOf)}</svg>`;
}

function rowOf({ label, cells }: HeatRow, y: number): Html {
  return html`<g>${runsOf(cells).map((run) => cellOf(label, run, y * CELL))}</g>`;
}

/** The part of the group that is new already fills its square from below; where a node failed nothing hides it. */
function cellOf(label: string, { cell, from, count }: Run, y: number): Html {
  const [x, width] = [from * CELL, count * CELL];
  const filled = cell.phase === 'old' || cell.phase === 'updating' ? steps(cell) * (CELL / STEPS) : 0;
  const part = filled > 0 ? html`<rect class="f-new" x="${x}" y="${y + CELL - filled}" width="${width}" height="${filled}"/>` : undefined;
  return html`<g><title>${tip(label, cell)}</title><rect class="f-${cell.phase}" x="${x}" y="${y}" width="${width}" height="${CELL}"/>${part}</g>`;
}

function tip(label: string, cell: HeatCell): string {
  const part = steps(cell) > 0 && steps(cell) < STEPS ? `, about ${Math.round((steps(cell) / STEPS) * 100)} % new` : '';
  return `${label}: ${WORDS[cell.phase]}${cell.why === '' ? '' : ` (${cell.why})`}${part}`;
}

/** Only a group that is new to the last node is drawn full. */
const steps = ({ share }: HeatCell) => (share === 1 ? STEPS : Math.min(STEPS - 1, Math.round(share * STEPS)));

interface Run {
  readonly cell: HeatCell;
  readonly from: number;
  readonly count: number;
}

/** Neighbours that look the same are one rectangle. */
function runsOf(cells: readonly HeatCell[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [index, cell] of cells.entries()) {
    const last = runs.at(-1);
    const isSame = last && last.cell.phase === cell.phase && last.cell.why === cell.why && steps(last.cell) === steps(cell);
    if (isSame) runs[runs.length - 1] = { ...last, count: last.count + 1 };
    else runs.push({ cell, from: index, count: 1 });
  }
  return runs;
}

function nodeRow(row: RolloutTrace['rows'][number]): Html {
  const last = row.marks.at(-1);
  const phase = last?.phase ?? 'gone';
  const after = Number.isFinite(doneAt(row)) ? elapsedText(doneAt(row) * 1000) : '–';
  return html`<tr><th scope="row">${nameOf(row)}</th><td class="c-${phase}">${WORDS[phase]}</td><td>${after}</td><td>${course(row)}</td></tr>
`;
}

/** `0:00 old, 0:12 updating: pulling image, 0:40 new`. */
function course({ marks }: RolloutTrace['rows'][number]): string {
  return marks.map(({ at, phase, why }) => `${elapsedText(at * 1000)} ${WORDS[phase]}${why ? `: ${why}` : ''}`).join(', ');
}

/** For the search: name, last phase, course; texts only, which the script sets as text. */
function searchable(trace: RolloutTrace) {
  const rows = trace.rows.length > LISTED ? trace.rows.map((row) => [nameOf(row), row.marks.at(-1)?.phase ?? 'gone', course(row)]) : [];
  return { workload: trace.workload, rows };
}
