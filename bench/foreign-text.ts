import { mask } from '../src/kernel/hidden.ts';
import { readYaml } from '../src/manifest/yaml-rules.ts';
import { UNITS, YAMLS } from '../test/support/foreign-texts.ts';
import type { Section } from './measure.ts';

const SMALL = 100_000;
const LARGE = 10 * SMALL;

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
