import { createInterface } from 'node:readline/promises';
import type { Environment } from './seams.ts';

/** Where words go and answers come from. Data on `out`, everything for a person on `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** A person can be asked: stdin and stderr are terminals. */
  readonly interactive: boolean;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly columns: number;
  /** True only for a clear yes. */
  confirm(question: string, stop: AbortSignal): Promise<boolean>;
}

const MIN_COLUMNS = 40;
const NO_COLUMNS = 80;

export function processTerminal(env: Environment): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    interactive: Boolean(stdin.isTTY && stderr.isTTY) && env.TERM !== 'dumb',
    outIsTerminal: Boolean(stdout.isTTY),
    errIsTerminal: Boolean(stderr.isTTY) && (stderr.columns ?? 0) >= MIN_COLUMNS,
    columns: stdout.columns || NO_COLUMNS,
    confirm,
  };
}

async function confirm(question: string, stop: AbortSignal): Promise<boolean> {
  const dialogue = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await dialogue.question(`${question} [y/N] `, { signal: stop });
    return /^y(es)?$/i.test(answer.trim());
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === 'AbortError') return false;
    throw thrown;
  } finally {
    dialogue.close();
  }
}
