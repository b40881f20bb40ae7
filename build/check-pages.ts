import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allWithUndo, checkTitles } from '../src/features/chain.ts';
import type { CheckId, Finding } from '../src/kernel/check.ts';
import { type InstallPath, isByChart, KEY_VALUE, MANIFESTS, OPERATED, pathsThat } from '../src/kernel/installation.ts';
import { plain } from '../src/report/colour.ts';
import { findingLines } from '../src/report/findings.ts';
import { EXAMPLES, type Seen } from '../test/support/check-examples.ts';
import { linked, profileRows } from './profile-rows.ts';

const CHECKS = join(import.meta.dirname, '..', 'docs', 'reference', 'checks');
const BEGIN = '<!-- facts, by build/check-pages.ts -->';
const END = '<!-- end of the facts -->';
const BY_ID = '<!-- by id, by build/check-pages.ts -->';

const CHARTS = pathsThat(isByChart);
/** A chart has no base, and nothing of it is merged. */
const NOT_CHART = pathsThat((one) => !isByChart(one));

/** Checks of some install paths only: by numbers, both ends included. */
const ONLY_ON: readonly (readonly [first: number, last: number, readonly InstallPath[]])[] = [
  [113, 113, OPERATED],
  [201, 201, NOT_CHART],
  [205, 205, NOT_CHART],
  [207, 208, NOT_CHART],
  [209, 210, KEY_VALUE],
  [211, 211, MANIFESTS],
  [212, 212, KEY_VALUE],
  [231, 249, CHARTS],
  [251, 251, OPERATED],
  [310, 310, OPERATED],
  [411, 411, OPERATED],
  [429, 429, OPERATED],
  [621, 624, OPERATED],
  [626, 635, OPERATED],
  [723, 723, KEY_VALUE],
  [725, 725, KEY_VALUE],
  [804, 804, CHARTS],
];

/** The install paths of a check; undefined for all. */
export function pathsOf(id: string): readonly InstallPath[] | undefined {
  const number = Number(id.slice(3));
  return ONLY_ON.find(([first, last]) => first <= number && number <= last)?.[2];
}

/** What the tests provoke of each check. */
export function seenChecks(): Readonly<Record<string, Seen>> {
  return JSON.parse(readFileSync(EXAMPLES, 'utf8')) as Record<string, Seen>;
}

/** The page with its facts of today, right below the title, and what the profiles know by id at its end. */
export function withFacts(id: string, text: string, seen: Seen | undefined): string {
  const [title = '', ...rest] = text.split('\n');
  const [body = ''] = rest
    .join('\n')
    .replace(new RegExp(`^\\s*${BEGIN}[\\s\\S]*?${END}\\n`), '')
    .split(`\n${BY_ID}`);
  return `${title}\n\n${BEGIN}\n${factsOf(id, seen)}\n${END}\n\n${body.trimStart()}${byId(id)}`;
}

/** Rows with the same advice and threads are one. */
function byId(check: string): string {
  const rows = profileRows
    .filter((one) => one.check === check)
    .map(({ id, help, sources }) => ({ id, told: `${help} ${linked(sources)}`.trim() }));
  const items = [...Map.groupBy(rows, ({ told }) => told)].map(
    ([told, alike]) => `- ${alike.map(({ id }) => `\`${id}\``).join(', ')}: ${told}`,
  );
  return items.length === 0 ? '' : `\n${BY_ID}\n**By id**\n\n${items.sort().join('\n')}\n`;
}

function factsOf(id: string, seen: Seen | undefined): string {
  const stages = allWithUndo.filter(({ checks }) => checks.some((one) => one.id === id));
  const severity = stages.flatMap(({ checks }) => checks.filter((one) => one.id === id)).map((one) => one.severity);
  const severities = [...new Set([...severity, ...(seen?.severities ?? [])])].sort();
  const worst = seen?.example?.outcome === 'ok' ? 'none, it only informs' : severities.join(' or ');
  const facts = `**Severity** ${worst} · **Install paths** ${pathsOf(id)?.join(', ') ?? 'all'} · **Stages** ${[...new Set(stages.map((one) => one.id))].join(', ')}`;
  return seen?.example === undefined ? facts : [facts, '', '```', ...exampleOf(id, seen.example), '```'].join('\n');
}

function exampleOf(id: string, { evidence, ...example }: NonNullable<Seen['example']>): readonly string[] {
  const finding = {
    ...example,
    evidence,
    id: id as CheckId,
    title: checkTitles[id] ?? '',
    category: 'result',
    ref: '',
  } as unknown as Finding;
  return findingLines(finding, { palette: plain, wide: false });
}

if (import.meta.main) {
  const seen = seenChecks();
  for (const id of Object.keys(checkTitles)) {
    const file = join(CHECKS, `${id}.md`);
    writeFileSync(file, withFacts(id, readFileSync(file, 'utf8'), seen[id]));
  }
}
