import { createHash } from 'node:crypto';
import type { ActionText } from '../kernel/effect-type.ts';
import { Html, html } from './html.ts';
import { PAGE_SCRIPT } from './html-script.ts';
import { htmlSection } from './html-section.ts';
import { PAGE_STYLE } from './html-style.ts';
import type { ReportFacts } from './report-facts.ts';
import { sectionsOf } from './report-sections.ts';

/** Nothing is loaded, and no script runs but the page's own: not even one that slipped through the escaping. */
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
${sections.map(htmlSection)}
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
