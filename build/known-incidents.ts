import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Defect, DefectText } from '../src/kernel/defect.ts';
import { shippedProfiles } from '../src/profiles/index.ts';
import { explainedIncidents, type Incident } from './explained-incidents.ts';

const docs = join(import.meta.dirname, '..', 'docs');
export const KNOWN_INCIDENTS = join(docs, 'use', 'known-incidents.md');

const CHANGE_CHECKS = { meaning: 'NS-508', rollout: 'NS-112' } as const;

/** docs/use/known-incidents.md, from the defects of the shipped profiles, the pages of checks that have `**Seen**` and `**Source**`, and what can only be explained. */
export function knownIncidents(): string {
  const pages = readdirSync(join(docs, 'reference', 'checks')).filter((file) => file.startsWith('NS-'));
  const found = pages
    .sort()
    .flatMap((file) => ofPage(file.replace('.md', ''), readFileSync(join(docs, 'reference', 'checks', file), 'utf8')));
  const defects = shippedProfiles.flatMap(({ defects = [] }) => defects.map(ofDefect));
  const changes = shippedProfiles.flatMap(({ changes: all = [] }) => all.map((one) => ofRow(one, CHANGE_CHECKS[one.effect])));
  const incidents = [...found, ...defects, ...changes, ...explainedIncidents].sort((a, b) => (a.seen < b.seen ? -1 : 1));
  return [
    '# Known incidents',
    '',
    'What went wrong in upgrades of others, by what they saw. Where a check is named, it looks for the cause before the upgrade, and its page says why.',
    'The links are public threads. Written by `node build/known-incidents.ts`.',
    '',
    ...[...Map.groupBy(incidents, ({ seen }) => seen)].map(([seen, alike]) => itemOf(seen, alike)),
    '',
  ].join('\n');
}

/** A list is read on a phone, too. What is equal in rows that look alike is said once, after the ids of all that it is true of. */
function itemOf(seen: string, alike: readonly Incident[]): string {
  const once = (texts: readonly string[]) => [...new Set(texts.filter((text) => text !== ''))];
  const here = [...Map.groupBy(alike, (one) => `${one.check ?? ''} ${one.here}`).values()].map((same) => {
    const ids = once(same.flatMap(({ id }) => id ?? [])).join(', ');
    return once([same[0]?.check ?? '', ids === '' ? '' : `${ids}.`, same[0]?.here ?? '']).join(' ');
  });
  const told = once([...alike.map(({ why }) => why), ...here]).join(' ');
  return `- **${seen}** ${told} ${once(alike.flatMap(({ sources }) => sources))
    .map(linked)
    .join(', ')}`;
}

function ofPage(id: string, text: string): readonly Incident[] {
  const part = (name: string) => new RegExp(`^\\*\\*${name}\\*\\* (.*)$`, 'm').exec(text)?.[1];
  const [seen, source, why] = [part('Seen'), part('Source'), part('Matters')];
  if (seen === undefined || source === undefined || why === undefined) return [];
  const title = text.split('\n')[0]?.replace(`# ${id} `, '') ?? '';
  const here = part('Here') ?? `[${id}](../reference/checks/${id}.md) ${title}.`;
  return [{ seen, why: '', here: here.replaceAll('](NS-', '](../reference/checks/NS-'), sources: source.replace(/\.$/, '').split(', ') }];
}

function ofDefect({ lines, ...row }: Defect): Incident {
  const fixes = lines.flatMap((line) => ('fixedIn' in line && line.fixedIn !== line.from ? [line.fixedIn] : []));
  return ofRow(row, 'NS-609', fixes.length > 0 ? `Fixed in ${fixes.join(', ')}.` : '');
}

function ofRow({ id, symptom, advice = '', sources }: DefectText, check: string, fixed = ''): Incident {
  return {
    seen: symptom,
    why: '',
    check: `[${check}](../reference/checks/${check}.md)`,
    id: `\`${id}\``,
    here: `${fixed} ${advice}`.trim(),
    sources,
  };
}

function linked(source: string): string {
  const [, repository, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(source) ?? [];
  return repository ? `[${source.split('/')[1]}](https://github.com/${repository}/issues/${number})` : source;
}

if (process.argv[1] === import.meta.filename) writeFileSync(KNOWN_INCIDENTS, knownIncidents());
