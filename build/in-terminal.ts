import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { quoteArgument } from '../src/kernel/quoting.ts';
import { type Span, TerminalScreen } from './terminal-screen.ts';

export type Lines = readonly (readonly Span[])[];

/** What the user types once these words are on the screen; `\r` is the Enter key, `\u0003` Ctrl-C. */
export interface Answer {
  readonly when: RegExp;
  readonly type: string;
}

export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** In order. */
  readonly answers?: readonly Answer[];
  readonly timeoutMs?: number;
}

/** What a program showed: each complete picture of its live view, and everything at its end, scrolled lines too. */
export interface Shown {
  readonly exit: number | null;
  readonly frames: readonly Lines[];
  readonly end: Lines;
  /** Of the end: lines that had no room in one row, whole. */
  readonly tooLong: readonly string[];
}

const TIMEOUT_MS = 120_000;

/** Runs a program in a pseudo-terminal, which `script` of util-linux gives it. Throws if it cannot be run or does not end in time. */
export async function runInTerminal(command: readonly string[], options: TerminalOptions): Promise<Shown> {
  const { columns, rows, env, timeoutMs = TIMEOUT_MS } = options;
  const line = `stty cols ${columns} rows ${rows} echo; exec ${command.map(quoteArgument).join(' ')}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  const left = [...(options.answers ?? [])];
  let answered = 0;
  child.stdin.on('error', () => undefined);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    const [next] = left;
    if (!next?.when.test(stripVTControlCharacters(output.slice(answered)))) return;
    answered = output.length;
    left.shift();
    child.stdin.write(next.type);
  });
  const late = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  const exit = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  clearTimeout(late);
  if (exit === null) throw new Error(`${command.join(' ')} did not end in ${timeoutMs} ms, and had shown:\n${output}`);
  return { exit, ...shownBy(output, columns, rows) };
}

function shownBy(output: string, columns: number, rows: number): Omit<Shown, 'exit'> {
  const screen = new TerminalScreen(columns);
  const frames: Lines[] = [];
  screen.write(output, () => frames.push(screen.lines().slice(-rows)));
  const end = screen.lines();
  const lines = plainLines(end);
  const starts = lines.flatMap((_, row) => (screen.isContinued(row) ? [] : [row]));
  const whole = starts.map((row, index) => lines.slice(row, starts[index + 1] ?? lines.length));
  return { frames, end, tooLong: whole.flatMap((rows) => (rows.length > 1 ? [rows.join('')] : [])) };
}

export const plainLines = (lines: Lines): readonly string[] => lines.map((line) => line.map((span) => span.text).join(''));
