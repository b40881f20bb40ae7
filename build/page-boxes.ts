import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prerequisites } from '../src/features/preflight/prerequisites.ts';
import { DATA_PLANES, type DataPlane, INSTALL_PATHS, MANIFESTS, OPERATED } from '../src/kernel/installation.ts';
import type { Profile } from '../src/kernel/profile.ts';
import { markdownOf } from '../src/kernel/step.ts';
import { CONNECTIONS, restartsOn, STOPPED, TRAFFIC } from '../src/kernel/traffic.ts';
import { UNDO, UNDONE_BY } from '../src/kernel/undo.ts';
import { calico } from '../src/profiles/calico.ts';

const DATA_PLANE_NAMES: Readonly<Record<DataPlane, string>> = { standard: 'iptables or nftables', ebpf: 'eBPF' };

type Rows = readonly (readonly string[])[];

/** Tables that pages show between two comments, made from the same data as the behaviour. */
const BOXES: Readonly<Record<string, (profile: Profile) => Rows>> = {
  prerequisites: (profile) => [
    ['Needed', ''],
    ...prerequisites(profile, profile.defaultRelease).map(([what, needed]) => [what, markdownOf(needed)]),
  ],
  traffic: () => [
    ['Restarts', 'Running connections', 'Meanwhile not possible', 'Measured'],
    ...Object.values(TRAFFIC).flatMap(({ name, connections, meanwhile, measured }) =>
      connections === undefined
        ? DATA_PLANES.map((one) => [`${name}; ${DATA_PLANE_NAMES[one]}`, CONNECTIONS[one], meanwhile, measured])
        : [[name, connections, meanwhile, measured]],
    ),
    ...DATA_PLANES.map((one) => [
      `nothing more, as a run stopped; ${DATA_PLANE_NAMES[one]}`,
      STOPPED[one],
      'on nodes whose agent is not ready: new pods, changed policies',
      'nothing of traffic',
    ]),
  ],
  paths: () => [
    ['Installed by', '`--path`'],
    ...INSTALL_PATHS.map((path) => [`[${titleOf(`docs/reference/path-${path}.md`)}](path-${path}.md)`, `\`${path}\``]),
  ],
  order: () => [
    ['Path', 'What restarts; parts between two arrows have no order'],
    ...[...MANIFESTS, ...OPERATED].map((path) => [
      path,
      restartsOn(path)
        .map((parts) => parts.map((part) => (TRAFFIC[part].name.split(/[,(]/)[0] ?? '').trim()).join(', '))
        .join(' → '),
    ]),
  ],
  undo: () => [
    ['Once', 'Install paths', 'Data plane', 'Undone by', 'Why'],
    ...UNDO.map(({ title, paths, dataPlane, by, because }) => [
      title,
      paths.join(', '),
      dataPlane === undefined ? 'each' : DATA_PLANE_NAMES[dataPlane],
      markdownOf(UNDONE_BY[by]),
      because,
    ]),
  ],
  platforms: ({ platforms }) => [
    ['Platform', 'Upgrade there'],
    ...platforms.map(({ title, hint }) => [title, hint] as const),
    ['EKS', 'Calico beside or instead of the VPC CNI is your own installation: this program upgrades it as any other.'],
  ],
};

const fileOf = (page: string) => join(import.meta.dirname, '..', page);
const titleOf = (page: string) => /^# (.*)/.exec(readFileSync(fileOf(page), 'utf8'))?.[1] ?? '';

/** Pages with boxes. */
export const BOXED: readonly string[] = [
  'README.md',
  'docs/use/quick-start.md',
  'docs/use/traffic.md',
  'docs/use/going-back.md',
  'docs/use/faq.md',
  'docs/reference/checks/NS-002.md',
  'docs/reference/paths.md',
];

/** The page with its boxes of today. Throws if it has none. */
export function withBoxes(page: string, text: string): string {
  const found = Object.entries(BOXES).filter(([name]) => text.includes(begin(name)));
  if (found.length === 0) throw new Error(`${page} has no box`);
  return found.reduce((whole, [name, rows]) => replaced(whole, name, rows(calico)), text);
}

/** Sentences of pages that name what is upgraded to: RELEASE, its LINE, its LATER patch, and the EARLIEST line whose end under an operator is known (NS-601). */
const OF_TARGET: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['Upgrade Calico v3.15+ to LINE,', 'a later patch than RELEASE see'],
  'docs/use/quick-start.md': ['The target is Calico RELEASE,', 'preflight --release LATER`'],
  'docs/use/faq.md': ['another release than LINE?', 'the target is EARLIEST or later'],
  'docs/reference/profiles.md': ['as many as there are containers | RELEASE |'],
  'docs/reference/path-operator.md': ['The target is EARLIEST or later'],
  'package.json': ['policy service to LINE,'],
  'plugin.yaml': ['policy service to LINE\n', 'to LINE: looks'],
};
export const TARGETED: readonly string[] = Object.keys(OF_TARGET);

/** The page with the release of today. Throws if it lacks one of its sentences. */
export function withTarget(page: string, text: string): string {
  const lineOf = (release = '') => release.replace(/\.\d+$/, '');
  const later = calico.defaultRelease.replace(/\d+$/, (patch) => String(Number(patch) + 1));
  const words = {
    RELEASE: calico.defaultRelease,
    LATER: later,
    LINE: lineOf(calico.defaultRelease),
    EARLIEST: lineOf(calico.operator.end?.since),
  };
  const said = (sentence: string, as: (value: string) => string) =>
    Object.entries(words).reduce((whole, [word, value]) => whole.replace(word, as(value)), sentence);
  return (OF_TARGET[page] ?? []).reduce((whole, sentence) => {
    const found = new RegExp(
      said(sentence.replace(/[|?+.]/g, '\\$&'), (value) => value.replaceAll(/\d+/g, String.raw`\d+`).replaceAll('.', String.raw`\.`)),
    );
    if (!found.test(whole)) throw new Error(`${page} does not say: ${sentence}`);
    return whole.replace(
      found,
      said(sentence, (value) => value),
    );
  }, text);
}

const begin = (name: string) => `<!-- ${name}, by build/page-boxes.ts -->`;
const END = '<!-- end -->';

function replaced(text: string, name: string, rows: Rows): string {
  const start = text.indexOf(begin(name));
  const end = text.indexOf(END, start);
  const [head, ...body] = rows.map((cells) => `| ${cells.join(' | ')} |`);
  return [
    text.slice(0, start),
    [begin(name), head, `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body].join('\n'),
    '\n',
    text.slice(end),
  ].join('');
}

if (import.meta.main)
  for (const page of new Set([...BOXED, ...TARGETED])) {
    const file = fileOf(page);
    const text = withTarget(page, readFileSync(file, 'utf8'));
    writeFileSync(file, BOXED.includes(page) ? withBoxes(page, text) : text);
  }
