import type { PlannedHost, PlannedStage } from '../kernel/plan.ts';
import { clip } from './columns.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import { editRows, hostRows, hostTally, ownerRows, takenRows, twoWayRows } from './report-parts.ts';

/** Rows at most, and how many of them are before the fold. */
const ROWS = 1000;
const UNFOLDED = 20;
const VALUE_WIDTH = 160;

/** What the person changed and what became of it (docs/merge.md). */
export function editsSection(plans: readonly PlannedStage[]): Html | undefined {
  const rows = editRows(plans);
  return section('edits', 'Edits carried into the target', ['Object, field', 'What became of it', 'Yours', 'The target’s', 'Found in'], {
    rows: rows.map((row) => [
      html`${row.object}${row.field === '' ? '' : html`<br><code>${row.field}</code>`}`,
      html`<span class="${row.isOpen ? 'o-error' : 'o-ok'}">${row.outcome}</span>${row.note === '' ? '' : html`<br><small>${row.note}</small>`}`,
      html`<code>${clip(row.mine, VALUE_WIDTH)}</code>`,
      html`<code>${clip(row.theirs, VALUE_WIDTH)}</code>`,
      row.from,
    ]),
  });
}

/** Fields that were of other field managers. */
export function takenSection(plans: readonly PlannedStage[]): Html | undefined {
  return section('taken', 'Ownership taken over', ['Object', 'Field', 'Was of', 'What follows'], {
    rows: takenRows(plans).map(({ object, field, from, hint }) => [object, html`<code>${field}</code>`, from, hint]),
  });
}

/** What was taken on where no base tells the person's edits from the release. */
export function twoWaySection(plans: readonly PlannedStage[]): Html | undefined {
  return section('two-way', 'Differences that no base explains', ['Object, field', 'Installed', 'Target', 'Field managers'], {
    rows: twoWayRows(plans).map(({ field, live, target, owners }) => [
      field,
      html`<code>${clip(live, VALUE_WIDTH)}</code>`,
      html`<code>${clip(target, VALUE_WIDTH)}</code>`,
      owners,
    ]),
  });
}

export function ownersSection(plans: readonly PlannedStage[]): Html | undefined {
  return section('owners', 'Owner references moved', ['Object', 'What', 'Owner'], {
    rows: ownerRows(plans).map(({ object, what, owner }) => [object, what, owner]),
  });
}

/** The hosts whose traffic is judged otherwise; the others by name. */
export function hostsSection(plans: readonly PlannedStage[]): Html | undefined {
  const hosts = hostRows(plans);
  const same = hosts.filter(({ verdict }) => verdict === 'same');
  return section('hosts', 'Host endpoints, node by node', ['Node', 'Verdict', 'When, and what applies before and after'], {
    before: html`<p>${hostTally(hosts)}</p>`,
    rows: hosts.filter((host) => !same.includes(host)).map(hostCells),
    after:
      same.length === 0
        ? ''
        : html`<details><summary>${same.length} where nothing changes</summary><p>${same.map(({ node }) => node).join(', ')}</p></details>`,
  });
}

const KINDS: Readonly<Record<PlannedHost['verdict'], string>> = {
  same: 'ok',
  OPEN: 'error',
  'NEWLY POLICED': 'warning',
  CHANGED: 'warning',
};

function hostCells({ node, verdict, detail }: PlannedHost): readonly HtmlValue[] {
  return [node, html`<span class="o-${KINDS[verdict]}">${verdict}</span>`, detail];
}

interface Part {
  readonly before?: HtmlValue;
  readonly rows: readonly (readonly HtmlValue[])[];
  readonly after?: HtmlValue;
}

/** A section with one table, the first cell of a row being its heading; undefined where there is nothing to tell. */
function section(id: string, title: string, head: readonly string[], { before, rows, after = '' }: Part): Html | undefined {
  if (rows.length === 0 && after === '') return undefined;
  const more = rows.length - ROWS;
  const folded = rows.slice(UNFOLDED, ROWS);
  return html`<section id="${id}"><h2>${title}</h2>
${before}${rows.length > 0 ? table(title, head, rows.slice(0, UNFOLDED)) : ''}${
  folded.length > 0 ? html`<details><summary>${folded.length} more</summary>${table(`${title}, continued`, head, folded)}</details>` : ''
}${more > 0 ? html`<p>and ${more} more, all in the JSON report</p>` : ''}${after}</section>
`;
}

function table(name: string, head: readonly string[], rows: Part['rows']): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="${name}"><table class="found"><thead><tr>${head.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first}</th>${rest.map((cell, index) => html`<td data-name="${head[index + 1]}">${cell}</td>`)}</tr>\n`)}</tbody></table></div>`;
}
