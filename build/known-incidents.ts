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

What went wrong in upgrades of others, by what they saw. The check looks for the cause beforehand; its page has what to do, and the threads.
Written by \`node build/known-incidents.ts\`.

## While it runs, and afterwards

${listed(of(), ({ check }) => linkTo(check))}

## Defects of a release

${linkTo('NS-609')}, by id, with the release that has the fix:

${listed(of('NS-609'), byId)}

## What means something else afterwards

${linkTo('NS-508')}, by id:

${listed(of('NS-508'), byId)}

## While old and new agents run side by side

${linkTo('NS-112')}, by id:

${listed(of('NS-112'), byId)}

## What no check can see

On the manifest paths \`wait\` stops at the first such node (exit 5), and says what it means. Under an operator it ends at its time limit (exit 124).
[\`--probe-network\`](traffic.md#try-the-network-of-new-pods) tries new pods on each path, [\`--probe-nodes\`](traffic.md#try-the-target-on-the-nodes) the
agent and its image beforehand.

${explainedIncidents.map(({ seen, here, sources }) => `- **${seen}** ${here} ${linked(sources)}`).join('\n')}
`;
}

const linkTo = (check: string) => `[${check}](../reference/checks/${check}.md)`;
const byId = ({ id = '' }: Incident) => `\`${id}\``;

/** What is seen alike stands once, with all that it may be. */
function listed(incidents: readonly Incident[], tail: (one: Incident) => string): string {
  const rows = [...Map.groupBy(incidents, ({ seen }) => seen)].map(([seen, alike]) => `- ${seen} ${alike.map(tail).join(', ')}`);
  return rows.sort((a, b) => (a < b ? -1 : 1)).join('\n');
}

if (process.argv[1] === import.meta.filename) writeFileSync(KNOWN_INCIDENTS, knownIncidents());
