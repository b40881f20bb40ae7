import type { Finding } from '../kernel/check.ts';
import { counted } from '../kernel/counted.ts';
import { tallyLine } from './findings.ts';
import { type Html, html } from './html.ts';

const EVIDENCE = 100;
const OPEN: readonly Finding['outcome'][] = ['error', 'warning', 'accepted', 'expected', 'cured'];

/** What was found: open checks first, what passed behind a fold. */
export function checksSection(findings: readonly Finding[]): Html | undefined {
  if (findings.length === 0) return undefined;
  const open = OPEN.flatMap((outcome) => findings.filter((finding) => finding.outcome === outcome));
  const passed = findings.filter(({ outcome }) => !OPEN.includes(outcome));
  return html`<section id="checks"><h2>What was found</h2>
<p>${tallyLine(findings)}</p>
${open.length > 0 ? table('checks that need somebody', open) : ''}
${passed.length > 0 ? html`<details><summary>${counted(passed.length, 'check')} passed, or not applicable here</summary>${table('checks that passed', passed)}</details>` : ''}</section>
`;
}

function table(name: string, findings: readonly Finding[]): Html {
  return html`<div class="wide" tabindex="0" role="region" aria-label="${name}"><table class="found"><thead><tr><th scope="col">Outcome</th><th scope="col">Check</th><th scope="col">Fact, meaning, evidence</th></tr></thead>
<tbody>${findings.map(row)}</tbody></table></div>
`;
}

function row(finding: Finding): Html {
  const { id, title, outcome, message, hint, next } = finding;
  const accepted = finding.was === undefined ? '' : ` (was: ${finding.was})`;
  return html`<tr><td class="o-${outcome}">${outcome}${accepted}</td><th scope="row">${id}<br><small>${title}</small></th>
<td>${message}${hint === undefined ? '' : html`<br>${hint}`}${next === undefined ? '' : html`<br>Next: <code>${next}</code>`}${evidence(finding)}</td></tr>
`;
}

function evidence({ evidence: all }: Finding): Html | undefined {
  if (all.length === 0) return undefined;
  const more = all.length - EVIDENCE;
  return html`<details><summary>${all.length} ${all.length === 1 ? 'piece' : 'pieces'} of evidence</summary><ul>${all
    .slice(0, EVIDENCE)
    .map(({ text, detail }) => html`<li>${text}${detail === undefined ? '' : `: ${detail}`}</li>`)}</ul>${
    more > 0 ? html`<p>and ${more} more, all in the JSON report</p>` : ''
  }</details>`;
}
