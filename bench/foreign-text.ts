import { mask } from '../src/kernel/hidden.ts';
import { readYaml } from '../src/manifest/yaml-rules.ts';
import type { Section } from './measure.ts';

const SMALL = 100_000;
const LARGE = 10 * SMALL;

/** What others may write into an object, a log or a chart so that reading it takes long: one unit, repeated. */
const UNITS = [
  ...['-eyJ', 'eyJaaaaaaa.', 'password=', 'password="', '"password":"', '\\"token\\":\\"', 'passwords: [', 'passwords: [] ', "token '"],
  ...['--token ', '- name: PASSWORD\n  value: ', 'Bearer ', 'basic a', 'authorization: x ', 'https://', 'a://b@', ' → ', 'A', '\\'],
  ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----\n', 'LS0tLS1CRUdJTi'],
];

const YAMLS: Readonly<Record<string, (length: number) => string>> = {
  'keys of one map': (length) => Array.from({ length: length / 10 }, (_, at) => `k${at}: !!str ${at}`).join('\n'),
  'one key again and again': (length) => 'a: 1\n'.repeat(length / 5),
  'a list in one line': (length) => `[${'!!str a, '.repeat(length / 9)}]`,
  anchors: (length) => Array.from({ length: length / 10 }, (_, at) => `- &a${at} ${at}`).join('\n'),
  aliases: (length) => `- &a x\n${'- *a\n'.repeat(length / 5)}`,
  'merge keys': (length) => `- &a {x: 1}\n${'- <<: *a\n'.repeat(length / 10)}`,
  'brackets that open': (length) => '['.repeat(length),
  'dashes that open': (length) => '- '.repeat(length / 2),
  'quotes that stay open': (length) => `a: "${'word\nb: "x\n'.repeat(length / 12)}`,
  'line breaks': (length) => `${'\n'.repeat(length)}a: b`,
};

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The best of three: a collection of garbage in between counts for nothing. */
const best = (work: () => unknown): number => Math.min(...[1, 2, 3].map(() => cpuMs(work)));

/** Every parser of foreign text, on what would be worst for it: the time of ten times the text against the time of the text. */
export async function foreignText(): Promise<Section> {
  const rows = [
    ...UNITS.map(
      (unit) => [`masked: \`${JSON.stringify(unit).slice(1, -1)}\``, (length: number) => unit.repeat(length / unit.length), mask] as const,
    ),
    ...Object.entries(YAMLS).map(([name, text]) => [`read as YAML: ${name}`, text, readYaml] as const),
  ].map(([name, text, read]) => {
    const [small, large] = [text(SMALL), text(LARGE)];
    read(small);
    const [short, long] = [best(() => read(small)), best(() => read(large))];
    return `| ${name} | ${short.toFixed(1)} | ${long.toFixed(0)} | ${(long / Math.max(short, 1)).toFixed(1)}× |`;
  });
  return {
    title: 'Foreign text',
    aim: 'ten times the text takes at most fifteen times as long (times below 1 ms count as 1 ms)',
    lines: ['| text | 100 kB, CPU ms | 1 MB, CPU ms | ratio |', '|---|---|---|---|', ...rows],
  };
}
