import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Lines, plainLines, runInTerminal, type Shown } from './in-terminal.ts';
import type { Span } from './terminal-screen.ts';
import { terminalSvg } from './terminal-svg.ts';

const root = join(import.meta.dirname, '..');
export const PICTURES = join(root, 'docs', 'pictures');
const [COLUMNS, ROWS] = [80, 24];

export interface Picture {
  readonly title: string;
  readonly args: readonly string[];
  /** What of it is shown; undefined if the run has no such moment any more. */
  readonly pick: (shown: Shown) => Lines | undefined;
}

/** By name of the file. */
export const ALL_PICTURES: Readonly<Record<string, Picture>> = {
  'rollout.svg': {
    title:
      'The live view of a run in a terminal: stages that are done, and the rolling update node by node, each with its version and why it is not ready',
    args: ['demo', '--fast', '--yes'],
    pick: ({ frames }) =>
      frames.find((lines) => /calico-node (?:\[\S+\] )?2\/4/.test(text(lines)) && / node-0\d .*(not ready|pulling)/.test(text(lines))),
  },
  'stuck.svg': {
    title:
      'A run that gives up on a node that does not become ready: why, what it means for traffic, what can be undone, the exact next command, and how to go on',
    args: ['demo', '--fast', '--yes', '--keep-going'],
    pick: ({ end }) => part(end, /^STOPPED /, /^Exit code 124/),
  },
  'done.svg': {
    title: 'The last lines of a run: what was upgraded and how long it took, the manual steps left, what was changed, and the next command',
    args: ['demo', '--fast', '--yes'],
    pick: ({ end }) => part(end, /^✔ Calico/, /^Next: /),
  },
};

/** Runs the built program in a terminal of 80×24. Throws if it cannot be run. */
export async function show(args: readonly string[]): Promise<Shown> {
  const home = mkdtempSync(join(tmpdir(), 'pictures-'));
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  try {
    return await runInTerminal([join(root, 'bin', 'kubectl-netsvc_upgrade'), ...args], { columns: COLUMNS, rows: ROWS, env });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** A line without what differs from run to run: times and the turning wheel. */
export function steady(line: string): string {
  return withoutWheel(line).replace(/\d+/g, '0').trimEnd();
}

/** The turning wheel always as it begins. */
function withoutWheel(line: string): string {
  return line.replace(/[⠀-⣿]/g, '⠋');
}

const text = (lines: Lines) => plainLines(lines).join('\n');

function part(lines: Lines, first: RegExp, last: RegExp): Lines | undefined {
  const plain = plainLines(lines);
  const from = plain.findIndex((line) => first.test(line));
  const to = plain.findIndex((line, index) => index > from && last.test(line));
  return from < 0 || to < 0 ? undefined : lines.slice(from, to + 1);
}

if (import.meta.main) {
  mkdirSync(PICTURES, { recursive: true });
  for (const [file, { title, args, pick }] of Object.entries(ALL_PICTURES)) {
    const lines = pick(await show(args))?.map((line) => line.map((span) => ({ ...span, text: withoutWheel(span.text) })));
    if (!lines) throw new Error(`${file}: the run has no such moment`);
    const prompt: Span[] = [{ text: `$ kubectl netsvc-upgrade ${args.join(' ')}`, styles: ['1'] }];
    writeFileSync(join(PICTURES, file), terminalSvg(title, [prompt, ...lines], COLUMNS));
  }
}
