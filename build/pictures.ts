import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quoteArgument } from '../src/kernel/argv.ts';
import { type Span, TerminalScreen } from './terminal-screen.ts';
import { terminalSvg } from './terminal-svg.ts';

const root = join(import.meta.dirname, '..');
export const PICTURES = join(root, 'docs', 'pictures');
const [COLUMNS, ROWS] = [80, 24];

type Lines = readonly (readonly Span[])[];

/** What a run showed: each complete picture of its live view, and everything at its end. */
export interface Shown {
  readonly frames: readonly Lines[];
  readonly end: Lines;
}

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
    args: ['demo', '--fast'],
    pick: ({ frames }) =>
      frames.find((lines) => /netsvc-node \[\S+\] 2\/4/.test(text(lines)) && / node-0\d .*(not ready|pulling)/.test(text(lines))),
  },
  'stuck.svg': {
    title:
      'A run that gives up on a node that does not become ready: what it found, the state of each stage, the exact next command, and how to go on',
    args: ['demo', '--fast', '--keep-going'],
    pick: ({ end }) => part(end, /^STAGE /, /^Exit code 124/),
  },
  'done.svg': {
    title: 'The end of a run: checks that passed, what was done and what was not needed and why, and the next command',
    args: ['demo', '--fast'],
    pick: ({ end }) => part(end, /^\d+ ok$/, /^Next: /),
  },
};

/** Runs the built program in a terminal of 80×24 (`script` gives it one). Throws if it cannot be run. */
export function show(args: readonly string[]): Shown {
  const home = mkdtempSync(join(tmpdir(), 'pictures-'));
  const command = [join(root, 'bin', 'kubectl-netsvc_upgrade'), ...args].map(quoteArgument).join(' ');
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' };
  const inTerminal = ['-qec', `stty cols ${COLUMNS} rows ${ROWS}; ${command}`, '/dev/null'];
  const { stdout, error } = spawnSync('script', inTerminal, {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 120_000,
  });
  rmSync(home, { recursive: true, force: true });
  if (error) throw error;
  const screen = new TerminalScreen(COLUMNS);
  const frames: Lines[] = [];
  screen.write(stdout, () => frames.push(screen.lines().slice(-ROWS)));
  return { frames, end: screen.lines() };
}

/** A line without what differs from run to run: times and the turning wheel. */
export function steady(line: string): string {
  return withoutWheel(line).replace(/\d+/g, '0').trimEnd();
}

/** The turning wheel always as it begins. */
function withoutWheel(line: string): string {
  return line.replace(/[⠀-⣿]/g, '⠋');
}

export const plainLines = (lines: Lines): readonly string[] => lines.map((line) => line.map((span) => span.text).join(''));

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
    const lines = pick(show(args))?.map((line) => line.map((span) => ({ ...span, text: withoutWheel(span.text) })));
    if (!lines) throw new Error(`${file}: the run has no such moment`);
    const prompt: Span[] = [{ text: `$ kubectl netsvc-upgrade ${args.join(' ')}`, styles: ['1'] }];
    writeFileSync(join(PICTURES, file), terminalSvg(title, [prompt, ...lines], COLUMNS));
  }
}
