import { isatty } from 'node:tty';
import { Fault } from '../kernel/fault.ts';
import { mask } from '../kernel/hidden.ts';
import { forTerminal, visible } from '../kernel/visible.ts';
import { fitted } from '../report/columns.ts';

/** Where words go and answers come from. Data on `out`, everything for the user on `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** The user can be asked: stdin and stderr are terminals. */
  readonly interactive: boolean;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  readonly columns: number;
  /** True only for a clear yes. Throws Fault('interrupted') if the user stops instead of answering. */
  confirm(question: string, stop: AbortSignal): Promise<boolean>;
  /** What the user typed; undefined at the end of the input. Throws as `confirm` does. */
  ask(question: string, stop: AbortSignal): Promise<string | undefined>;
}

const MIN_COLUMNS = 40;
const NO_COLUMNS = 80;

const DESCRIPTORS = { stdin: 0, stdout: 1, stderr: 2 } as const;
type StreamName = keyof typeof DESCRIPTORS;

/** The three streams of this process; others only in tests. */
interface Streams extends Pick<NodeJS.Process, StreamName> {
  /** Without it the stream itself is asked. */
  isTerminal?(name: StreamName): boolean;
}

/** Each is made at first use: that takes Node a millisecond, and a command writes to one or two. */
const own: Streams = {
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  isTerminal: (name) => isatty(DESCRIPTORS[name]),
};

/**
 * The only way to the terminal, beside the live view (`report/progress-tree.ts`). It removes credentials in addresses, also from other
 * programs' errors, and makes control characters visible (`kernel/visible.ts`).
 */
export function processTerminal(env: NodeJS.ProcessEnv, streams: Streams = own): Terminal {
  const isTerminal = (name: StreamName) => streams.isTerminal?.(name) ?? Boolean(streams[name].isTTY);
  const columns = (name: 'stdout' | 'stderr') => (isTerminal(name) ? streams[name].columns : 0);
  return {
    out: (text) => void streams.stdout.write(forTerminal(mask(text))),
    err: (text) => void streams.stderr.write(forTerminal(mask(text))),
    interactive: isTerminal('stdin') && isTerminal('stderr'),
    outIsTerminal: isTerminal('stdout'),
    errIsTerminal: columns('stderr') >= MIN_COLUMNS,
    columns: columns('stdout') || columns('stderr') || NO_COLUMNS,
    confirm: (question, stop) => confirm(question, stop, person(env, streams)),
    ask: (question, stop) => ask(question, stop, person(env, streams)),
  };
}

/** Words for the user: no line is wider than the terminal, where there is one. */
export function tellOut(terminal: Terminal, text: string): void {
  terminal.out(terminal.outIsTerminal ? fitted(text, terminal.columns) : text);
}

export function tellErr(terminal: Terminal, text: string): void {
  terminal.err(terminal.errIsTerminal ? fitted(text, terminal.columns) : text);
}

/** Where a question is asked; the user's terminal outside tests. */
export interface Dialogue {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly terminal?: boolean;
}

/** Without a cursor, question and answer have a line each, and the terminal itself edits: Node takes backspace for a letter. */
function person({ TERM }: NodeJS.ProcessEnv, { stdin, stderr }: Streams): Dialogue {
  return { input: stdin, output: stderr, ...(TERM === 'dumb' ? { terminal: false } : {}) };
}

/** True only for a clear yes; the end of the input (Ctrl-D) is a no. Throws Fault('interrupted') for Ctrl-C and for `stop`. */
export async function confirm(question: string, stop: AbortSignal, where: Dialogue): Promise<boolean> {
  return /^y(es)?$/i.test((await ask(`${question} [y/N]`, stop, where)) ?? '');
}

function columnsOf(output: NodeJS.WritableStream): number {
  return 'columns' in output && typeof output.columns === 'number' && output.columns > 0 ? output.columns : NO_COLUMNS;
}

/** What was typed, without blanks around it; undefined at the end of the input. Throws Fault('interrupted') for Ctrl-C and for `stop`. */
export async function ask(question: string, stop: AbortSignal, where: Dialogue): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises');
  // While a question is open the terminal sends Ctrl-C to us as a key, not as a signal.
  const key = new AbortController();
  const dialogue = createInterface(where).on('SIGINT', () => key.abort());
  const ended = new Promise<undefined>((resolve) => dialogue.once('close', () => resolve(undefined)));
  try {
    const asked = `${fitted(visible(question), columnsOf(where.output))} `;
    const answer = await Promise.race([dialogue.question(asked, { signal: AbortSignal.any([stop, key.signal]) }), ended]);
    if (answer === undefined) where.output.write('\n');
    return answer?.trim();
  } catch (thrown) {
    if (!(thrown instanceof Error && thrown.name === 'AbortError')) throw thrown;
    where.output.write('\n');
    throw new Fault('interrupted', 'stopped before this command changed anything', ['run the same command when you are ready']);
  } finally {
    dialogue.close();
  }
}
