import { visible } from '../kernel/visible.ts';

/** Text that is already HTML. Only `html` makes it, so that a plain text can never become markup. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlValue = string | number | undefined | Html | readonly HtmlValue[];

/** A template whose values are escaped unless they are Html themselves; safe in text and in quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(parts.map((part, index) => part + rendered(values[index])).join(''));
}

function rendered(value: HtmlValue): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? escaped(value) : value.map(rendered).join('');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;', '`': '&#96;' };

function escaped(text: string): string {
  return visible(text).replace(/[&<>"'`]/g, (one) => ENTITIES[one] ?? one);
}

/** Data for the page's own script, in an element of a type that no browser runs. */
export function dataBlock(id: string, data: unknown): Html {
  const shown = JSON.stringify(data, (_, value: unknown) => (typeof value === 'string' ? visible(value) : value));
  const text = shown.replace(/[<>&\u2028\u2029]/g, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  return html`<script type="application/json" id="${id}">${new Html(text)}</script>`;
}

/** The page's looks: the reader's own light or dark, no font or picture from anywhere, everything open on paper. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--dim:#57606a;--line:#d0d7de;--soft:#f6f8fa;--old:#9ea7b3;--updating:#8a5c00;--busy:#bf8700;--new:#1a7f37;--failed:#cf222e;--accent:#0550ae}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--dim:#9198a1;--line:#3d444d;--soft:#151b23;--old:#6e7681;--updating:#d29922;--busy:#d29922;--new:#3fb950;--failed:#f85149;--accent:#79c0ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:.2em 0}h2{font-size:1.25rem;margin:2em 0 .5em;border-bottom:1px solid var(--line)}h3{font-size:1.05rem}h4{font-size:1rem}
a{color:var(--accent)}nav a{margin-right:1em;white-space:nowrap}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;background:var(--paper);padding:.5em}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em}dt{color:var(--dim)}dd{margin:0;min-width:0}
.verdict{display:inline-block;padding:.2em .8em;border-radius:.3em;border:2px solid currentColor;font-weight:600}
.v-good,.o-ok,.o-cured,.s-done,.c-new{color:var(--new)}.v-bad,.o-error,.s-failed,.s-interrupted,.c-failed{color:var(--failed)}
.o-warning,.o-accepted,.s-running,.s-left,.c-updating{color:var(--updating)}.o-not-applicable,.o-expected,.s-skipped,.s-other,.c-old,.c-gone{color:var(--dim)}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid var(--line)}
thead th{color:var(--dim);white-space:nowrap}tbody th{font-weight:600}td{min-width:4rem}th,td[class]{overflow-wrap:normal}
tbody th{overflow-wrap:anywhere;min-width:8rem;max-width:24rem}.nodes td:nth-child(3){white-space:nowrap}.nodes td:last-child,.found td:last-child{min-width:14rem}
.timeline td:nth-child(3),.timeline td:nth-child(4){white-space:nowrap}.axis{width:30%;min-width:9rem}.bar{display:block;height:.9em;margin-top:.3em;border-radius:2px;min-width:2px}
.b-done{background:var(--new)}.b-failed{background:var(--failed)}.b-skipped{background:var(--old)}
code,pre{font:.85em/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}pre{margin:.2em 0;background:var(--soft);padding:.4em}
ins{color:var(--new);text-decoration:none}ins::before{content:"+ "}del{color:var(--failed)}
figure{margin:0}figcaption,small,.legend{color:var(--dim)}.heat{display:block;shape-rendering:crispEdges;width:100%;min-width:20rem;background:var(--soft)}
.f-old{fill:var(--old)}.f-updating{fill:var(--busy)}.f-new{fill:var(--new)}.f-failed{fill:var(--failed)}.f-gone{fill:none}
.legend span::before{content:"■ "}.legend .c-updating::before{color:var(--busy)}.legend span{margin-right:.6em}
input{font:inherit;width:100%;max-width:30rem;padding:.4em;border:1px solid var(--dim);border-radius:.3em;background:var(--soft);color:inherit}
[hidden]{display:none!important}
.why{min-width:16rem}
@media (max-width:60rem){.timeline .axis{display:none}.timeline thead{position:absolute;left:-99rem}.timeline{display:block}.timeline :is(tbody,tr,th,td){display:block;min-width:0;max-width:none;border:0;padding:.1em 0}
.timeline tr{border-bottom:1px solid var(--line);padding:.5em 0}.timeline td:not(.why){display:inline-block;margin-right:1em}.timeline td:empty{display:none}.timeline td[data-name]::before{content:attr(data-name) ": ";color:var(--dim)}}
@media (max-width:40rem){body{padding:.6rem}dl{grid-template-columns:1fr}dd{margin-bottom:.4em}
.found,.nodes{display:block}:is(.found,.nodes) :is(tbody,tr,th,td){display:block;min-width:0;max-width:none;border:0;padding:.1em 0}:is(.found,.nodes) thead{position:absolute;left:-99rem}
:is(.found,.nodes) tr{border-bottom:1px solid var(--line);padding:.5em 0}td[data-name]::before{content:attr(data-name) ": ";color:var(--dim)}.nodes td:not(:last-child){display:inline-block;margin-right:1em}}
@media print{:root{color-scheme:light;--ink:#000;--paper:#fff;--soft:#fff;--dim:#444}body{max-width:none;font-size:10pt}h2{margin:1em 0 .3em}ul,dl{margin:.3em 0}nav,.search,.skip{display:none}
.wide{overflow:visible}tr,figure{break-inside:avoid}h2,h3{break-after:avoid}details::details-content{content-visibility:visible;height:auto;block-size:auto}.heat,.bar{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

/** The page's own script: search, and folds that open in print. It handles text, never markup; without it only the search is missing. */
export const PAGE_SCRIPT = `
'use strict';
(() => {
  const search = document.getElementById('search');
  const said = document.getElementById('search-said');
  const found = document.getElementById('search-found');
  const block = document.getElementById('rollout-data');
  const rollouts = block ? JSON.parse(block.textContent) : [];
  document.querySelector('.search').hidden = false;
  const rows = [...document.querySelectorAll('tbody tr')].filter((row) => !found.contains(row));
  const MOST = 100;
  const cell = (row, tag, text) => { const one = document.createElement(tag); one.textContent = text; row.append(one); return one; };
  const nodesWith = (word) => rollouts.flatMap(({ workload, rows }) => rows.filter((row) => row.join(' ').toLowerCase().includes(word)).map((row) => [workload, ...row]));
  const show = (word) => {
    let count = 0;
    for (const row of rows) {
      const fits = word === '' || row.textContent.toLowerCase().includes(word);
      row.hidden = !fits;
      if (fits) count += 1;
      const fold = row.closest('section > details');
      if (fits && word !== '' && fold) fold.open = true;
    }
    const nodes = word === '' ? [] : nodesWith(word);
    const body = found.querySelector('tbody');
    body.replaceChildren(...nodes.slice(0, MOST).map(([workload, name, phase, course]) => {
      const row = document.createElement('tr');
      cell(row, 'th', name).scope = 'row';
      cell(row, 'td', phase).className = 'c-' + phase;
      cell(row, 'td', workload);
      cell(row, 'td', course);
      return row;
    }));
    found.hidden = nodes.length === 0;
    said.textContent = word === '' ? '' : count + ' rows' + (nodes.length > 0 ? ', ' + nodes.length + ' nodes or pods' + (nodes.length > MOST ? ' (the first ' + MOST + ' shown)' : '') : '');
  };
  let pending;
  search.addEventListener('input', () => { clearTimeout(pending); pending = setTimeout(() => show(search.value.trim().toLowerCase()), 120); });
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== search && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
    if (event.key === 'Escape' && document.activeElement === search) { search.value = ''; show(''); }
  });
  addEventListener('beforeprint', () => { for (const fold of document.querySelectorAll('details')) fold.open = true; });
})();
`;
