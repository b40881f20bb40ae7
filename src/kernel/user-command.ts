import type { Action } from './action.ts';
import { Fault } from './fault.ts';

/** Commands of the user that a run starts: a flag of this name says each. */
export type UserCommandName = 'probe' | HookName;
/** Those that are run around the replacement of one node's agent. */
export const HOOKS = ['before-node', 'after-node'] as const;
export type HookName = (typeof HOOKS)[number];

/** What came of one. */
export interface UserCommandEnd {
  readonly durationMs: number;
  /** Why it failed: `exit code 3: connection refused`. Absent where it ended with exit code 0. */
  readonly because?: string;
}

interface UserCommandRun {
  /** Takes the place of `{node}`. */
  readonly node?: string;
  /** It is ended then, and has failed. */
  readonly limitMs: number;
  /** It is ended at once; rejects with Fault('interrupted'). */
  readonly signal: AbortSignal;
}

/** Starts the commands that the command line names: what a run record says is never started. */
export interface UserCommands {
  run(name: UserCommandName, how: UserCommandRun): Promise<UserCommandEnd>;
}

/** How often the user's probe ran, how long it took, and when it failed. Times in milliseconds. */
export interface ProbeTrace {
  readonly runs: number;
  readonly medianMs: number;
  readonly longestMs: number;
  readonly failed: number;
  /** The first of them. */
  readonly failures: readonly { readonly at: string; readonly durationMs: number; readonly because: string }[];
}

/** Something that watches a run from outside, and stops it. */
export interface Sentinel {
  /** Aborted when the run has to stop. */
  readonly failed: AbortSignal;
  /** Why, and what that means where this action was begun last. */
  fault(last: Action | undefined): Fault;
}

/** What a shell would give a meaning outside of quotes, and within double ones: no shell reads it, so it would reach the program as it is. */
const OF_A_SHELL = /[|&;<>()`$]/;
const OF_A_SHELL_QUOTED = /[`$]/;

/** Blanks; a text in single quotes; one in double quotes; a letter behind a backslash; letters; a quote that nothing ends. */
const PART = /(\s+)|'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)|([^\s'"\\]+)|(.)/gs;
/** Where a backslash is a letter of paths. */
const PART_ON_WINDOWS = /(\s+)|'([^']*)'|"([^"]*)"|(?!)(.)|([^\s'"]+)|(.)/gs;

/**
 * The words of a command, parted as a POSIX shell parts them: quotes and backslashes keep words together, and nothing is expanded. A
 * backslash is an ordinary letter on Windows. Throws Fault('usage') for what only a shell could do.
 */
export function commandWords(text: string, flag: string, platform: string = process.platform): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const match of text.matchAll(platform === 'win32' ? PART_ON_WINDOWS : PART)) {
    const part = partOf(match, flag, platform);
    if (part !== undefined) word = (word ?? '') + part;
    else if (word !== undefined) words.push(word);
    if (part === undefined) word = undefined;
  }
  if (word !== undefined) words.push(word);
  if (words.length === 0 || words[0] === '') throw new Fault('usage', `--${flag} names no command`, [`write --${flag} ./check.sh`]);
  return words;
}

/** A part of a word; undefined for blanks between words. */
function partOf([, blank, single, double, escaped, plain = '', open]: RegExpExecArray, flag: string, platform: string): string | undefined {
  if (open !== undefined) throw new Fault('usage', `--${flag}: what begins with ${open} does not end`, ['close the quotation']);
  const meant = OF_A_SHELL.exec(plain) ?? OF_A_SHELL_QUOTED.exec(double ?? '');
  if (meant) throw noShell(meant[0], flag);
  if (blank !== undefined) return undefined;
  return single ?? (platform === 'win32' ? double : double?.replace(/\\(.)/gs, '$1')) ?? escaped ?? plain;
}

function noShell(letter: string, flag: string): Fault {
  return new Fault('usage', `--${flag}: the command is not given to a shell, and ${letter} has a meaning only there`, [
    `write a script that does it, and name the script: --${flag} ./check.sh`,
    "if it is an ordinary letter, put the word in quotes: 'http://host/?a=1&b=2'",
  ]);
}
