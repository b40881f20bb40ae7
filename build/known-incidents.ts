import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainedIncidents } from './explained-incidents.ts';
import { linked, profileRows } from './profile-rows.ts';

const docs = join(import.meta.dirname, '..', 'docs');
export const KNOWN_INCIDENTS = join(docs, 'use', 'known-incidents.md');

/** What somebody saw, and the check that finds its cause beforehand. */
interface Incident {
  readonly check: string;
  /** Which of its findings it is. */
  readonly id?: string;
  readonly seen: string;
  readonly sources: readonly string[];
}

/** From the pages of checks that have `**Seen**` and `**Source**`, and from the tables of the shipped profiles. */
export function checkedIncidents(): readonly Incident[] {
  const pages = readdirSync(join(docs, 'reference', 'checks')).filter((file) => file.startsWith('NS-'));
  return [...pages.sort().flatMap((file) => ofPage(file.replace('.md', ''))), ...profileRows];
}

function ofPage(check: string): readonly Incident[] {
  const text = readFileSync(join(docs, 'reference', 'checks', `${check}.md`), 'utf8');
  const part = (name: string) => new RegExp(`^\\*\\*${name}\\*\\* (.*)$`, 'm').exec(text)?.[1];
  const [seen, source] = [part('Seen'), part('Source')];
  return seen === undefined || source === undefined ? [] : [{ check, seen, sources: source.replace(/\.$/, '').split(', ') }];
}

/** docs/use/known-incidents.md. */
export function knownIncidents(): string {
  const incidents = checkedIncidents();
  const of = (check?: string) => incidents.filter((one) => (check === undefined ? one.id === undefined : one.id && one.check === check));
  return `# Known incidents

What others saw in upgrades. The check finds the cause beforehand; its page has fix and threads.

## While it runs, and afterwards

${listed(of(), ({ check }) => linkTo(check))}

## Defects of a release

${linkTo('NS-609')}, by id:

${listed(of('NS-609'), byId)}

## What means something else afterwards

${linkTo('NS-508')}, by id:

${listed(of('NS-508'), byId)}

## While old and new agents run side by side

${linkTo('NS-112')}, by id:

${listed(of('NS-112'), byId)}

## What no check can see

\`wait\` stops at the first such node (exit 5; under an operator exit 124 at its limit).
[\`--probe-network\`](traffic.md#try-the-network-of-new-pods) and [\`--probe-nodes\`](traffic.md#try-the-target-on-the-nodes) find some of it.

${explainedIncidents.map(({ seen, here, sources }) => `- **${seen}** ${here} ${linked(sources)}`).join('\n')}
`;
}

const linkTo = (check: string) => `[${check}](../reference/checks/${check}.md)`;
const byId = ({ id = '' }: Incident) => `\`${id}\``;

/** What is seen alike stands once, with all that it may be; rows that begin alike stand below their beginning. */
function listed(incidents: readonly Incident[], tail: (one: Incident) => string): string {
  const alike = Map.groupBy(incidents, ({ seen }) => seen);
  const rows = [...alike].map(([seen, all]) => `${seen} ${all.map(tail).join(', ')}`).sort((a, b) => (a < b ? -1 : 1));
  const parts = [...Map.groupBy(rows, (row) => HEADS.find((head) => row.startsWith(head)) ?? row)];
  return parts.map(([head, [one = '', ...more]]) => (more.length === 0 ? `- ${one}` : below(head, [one, ...more]))).join('\n');
}

/** Beginnings that rows share. */
export const HEADS: readonly string[] = ['eBPF:', 'calico-node crash-loops:', 'calico-node stays unready:'];

const below = (head: string, rows: readonly string[]) =>
  [`- ${head}`, ...rows.map((row) => `  - ${row.slice(head.length + 1)}`)].join('\n');

if (process.argv[1] === import.meta.filename) writeFileSync(KNOWN_INCIDENTS, knownIncidents());
