import { createHash } from 'node:crypto';
import type { ActionText } from '../kernel/effect-type.ts';
import { clip } from './columns.ts';
import { Html, html, PAGE_SCRIPT, PAGE_STYLE } from './html.ts';
import { rolloutData, rolloutsSection } from './html-heat-map.ts';
import type { Bar, Cell, Fold, ReportFacts, Row, Section, Table, TableSection } from './model.ts';
import { sectionsOf } from './report-sections.ts';

/** Nothing is loaded and no script runs but the page's own, not even one that slipped through the escaping. */
const POLICY = `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${createHash('sha256').update(PAGE_SCRIPT).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** A report as one page that needs nothing else: no network, light and dark, on paper, by keyboard. */
export function htmlText(report: ReportFacts, textOf: ActionText): string {
  const sections = sectionsOf(report, textOf);
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta name="referrer" content="no-referrer">
<title>${report.title}</title><style>${new Html(PAGE_STYLE)}</style></head>
<body><a class="skip" href="#main">Skip to the report</a>
<header><h1>${report.title}</h1>${headPart(report)}
<nav aria-label="parts">${sections.map(({ id, name }) => html`<a href="#${id}">${name}</a> `)}</nav></header>
<main id="main">${searchPart()}
${sections.map(htmlSection)}${rolloutData(sections)}
${report.next === '' ? '' : html`<section id="next"><h2>Next</h2><p><code>${report.next}</code></p></section>`}</main>
<script>${new Html(PAGE_SCRIPT)}</script></body></html>
`.text;
}

function headPart({ outcome, message, suggestions, facts }: ReportFacts): Html {
  const good = outcome.number === 0 || outcome.number === 2;
  return html`<p><span class="verdict v-${good ? 'good' : 'bad'}">${outcome.code}, exit code ${outcome.number}</span></p>
${message === undefined ? '' : html`<p><strong>${message}</strong></p>`}${suggestions.length > 0 ? html`<ul>${suggestions.map((one) => html`<li>${one}</li>`)}</ul>` : ''}
<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

function searchPart(): Html {
  return html`<div class="search" role="search" hidden><label for="search">Search checks, objects, commands and nodes (key: /)</label><br><input id="search" type="search" autocomplete="off"> <span id="search-said" role="status"></span>
<div id="search-found" class="wide" tabindex="0" role="region" aria-label="nodes found" hidden><table><thead><tr><th scope="col">Node</th><th scope="col">Ended as</th><th scope="col">Workload</th><th scope="col">What it went through</th></tr></thead><tbody></tbody></table></div></div>`;
}

/** Rows of a table and items of a fold at most. */
const ROWS = 2000;
const ITEMS = 100;
/** Characters of code: shown as it is, the beginning of a longer one, and what is shown at most. */
const LONG = 400;
const BRIEF = 120;
const LONGEST = 8000;

/** A section as a part of the page. */
function htmlSection(section: Section): Html {
  if (section.kind === 'rollouts') return rolloutsSection(section);
  const { id, title, lead, items = [], table, notes } = section;
  return html`<section id="${id}"><h2>${title}</h2>
${list(items)}${lead === undefined ? '' : html`<p>${lead}</p>`}
${table === undefined ? '' : tablePart(table)}${notes === undefined ? '' : html`<h3>${notes.title}</h3>${list(notes.items)}`}</section>
`;
}

const list = (items: NonNullable<TableSection['items']>) =>
  items.length === 0 ? '' : html`<ul>${items.map((one) => html`<li>${one}</li>`)}</ul>`;

/** What needs somebody is open; long lists and what is minor are behind folds. */
function tablePart(table: Table): Html {
  const rows = table.rows.filter(({ isMinor }) => !isMinor);
  const shown = rows.slice(0, ROWS);
  const unfolded = table.unfolded ?? ROWS;
  const folded = shown.slice(unfolded);
  return html`${rows.length > 0 ? rowsPart(table, table.label, shown.slice(0, unfolded)) : ''}${
    folded.length > 0
      ? html`<details><summary>${folded.length} more</summary>${rowsPart(table, `${table.label}, continued`, folded)}</details>`
      : ''
  }${morePart(rows.length - ROWS)}${minorPart(table)}`;
}

function minorPart(table: Table): Html | undefined {
  const rows = table.rows.filter(({ isMinor }) => isMinor);
  if (rows.length === 0 || table.minor === undefined) return undefined;
  const { title, only } = table.minor;
  const names = html`<p>${rows.map(({ cells }) => cells[0]?.text ?? '').join(', ')}</p>`;
  return html`<details><summary>${title}</summary>${only === 'names' ? names : rowsPart(table, title, rows)}</details>`;
}

const morePart = (count: number) => (count > 0 ? html`<p>and ${count} more, all in the JSON report</p>` : '');

function rowsPart({ head, layout, heading = 0 }: Table, label: string, rows: readonly Row[]): Html {
  const cell = (one: Cell, column: number) =>
    column === heading
      ? html`<th scope="row">${content(one)}</th>`
      : dataCell(one, head[column] ?? '', layout === 'timeline' && column === head.length - 1);
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><table class="${layout ?? 'found'}"><thead><tr>${head.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>${rows.map(({ cells }) => html`<tr>${cells.map(cell)}</tr>\n`)}</tbody></table></div>`;
}

function dataCell(one: Cell, name: string, isWhy: boolean): Html {
  if (one.bar) return html`<td class="axis">${barPart(one.bar)}</td>`;
  const kind = isWhy ? 'why' : one.tone;
  return html`<td${kind === undefined ? '' : html` class="${kind}"`}${kind === undefined ? html` data-name="${name}"` : ''}>${content(one)}</td>`;
}

function content({ text = '', code, small, output, fold }: Cell): Html {
  return html`${text}${code === undefined ? '' : codePart(code, text !== '')}${small === undefined ? '' : html`<br><small>${small}</small>`}${
    output === undefined ? '' : html`<pre>${output}</pre>`
  }${fold === undefined ? '' : foldPart(fold)}`;
}

/** Patches of whole fields are pages long: those are behind a fold. */
function codePart(code: string, isBelow: boolean): Html {
  if (code.length <= LONG) return html`${isBelow ? html`<br>` : ''}<code>${code}</code>`;
  return html`<details><summary><code>${clip(code, BRIEF)}</code></summary><code>${clip(code, LONGEST)}</code></details>`;
}

function foldPart({ title, items }: Fold): Html {
  return html`<details><summary>${title}</summary><ul>${items.slice(0, ITEMS).map(itemPart)}</ul>${morePart(items.length - ITEMS)}</details>`;
}

function itemPart({ code, text = '', before, after }: Fold['items'][number]): Html {
  const removed = before === undefined ? '' : html` <del>${before}</del>`;
  const added = after === undefined ? '' : html` <ins>${after}</ins>`;
  return html`<li>${code === undefined ? '' : html`<code>${code}</code> `}${text}${removed}${added}</li>`;
}

function barPart({ from, width, tone }: Bar): Html {
  return html`<span class="bar b-${tone}" aria-hidden="true" style="margin-left:${from}%;width:${width}%"></span>`;
}
