import { quoteFor } from '../kernel/argv.ts';
import { withoutAddressCredentials } from '../kernel/hidden.ts';
import { withBareBooleans, writtenBoolean } from './boolean-words.ts';
import { CARRIED, type CarriedFlag } from './carry.ts';
import { CREDENTIAL_FLAGS, type FlagShape, setsFlag, withEnvironment } from './environment.ts';
import type { Asked, SessionFlags } from './session.ts';

type Shapes = Readonly<Record<string, FlagShape>>;

/** argv with the environment twins of unset flags before it, booleans and levels as the parser knows them. */
export function wordsOf(argv: readonly string[], shapes: Shapes, env: Readonly<Record<string, string | undefined>>): string[] {
  return [...withBareBooleans(withEnvironment(argv.map(levelled), shapes, env), shapes)];
}

/** A command line that was read. */
export interface Parsed {
  readonly command: string;
  /** As the user wrote it. */
  readonly typed: readonly string[];
  /** What was read: `typed` with the environment's words. */
  readonly words: readonly string[];
  readonly flags: SessionFlags;
  readonly shapes: Shapes;
  /** Names of the commands that this version has. */
  readonly commands: readonly string[];
}

/** What a command is asked for, with everything that continues it. */
export function askedOf(parsed: Parsed): Asked {
  const { command, flags, typed, commands } = parsed;
  const line = [command, ...withoutCredentialFlags(typed).map(quoted)].join(' ');
  return { command, flags, typed: line, carried: carriedFlags(parsed), commands };
}

/** `-v` alone is the first level, as in other programs; kubectl’s `-v=6` is as it stands. */
const levelled = (word: string, index: number, argv: readonly string[]) =>
  word === '-v' && !/^\d+$/.test(argv[index + 1] ?? '') ? '-v=1' : word;

/** A word as it may be shown: what was typed into an address is not repeated. */
const quoted = (word: string) => quoteFor(process.platform, withoutAddressCredentials(word));

function withoutCredentialFlags(argv: readonly string[]): readonly string[] {
  const names = CREDENTIAL_FLAGS.map((name) => `--${name}`);
  const isOne = (word = '') => names.some((name) => word === name || word.startsWith(`${name}=`));
  return argv.filter((word, index) => !isOne(word) && !names.includes(argv[index - 1] ?? ''));
}

/** Flags that somebody set: on the command line, or by the environment, whose words come with those that were typed in `words`. */
function carriedFlags({ typed, words, flags, shapes }: Parsed): readonly CarriedFlag[] {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  return CARRIED.flatMap((name) => {
    const [shape, value] = [shapes[name], values[name]];
    // Off by the command line: the environment may say on, and the next command reads it as well.
    if (shape?.type === 'boolean' && writtenBoolean(typed, name, shapes) === false) return [{ name, word: `--${name}=false` }];
    const isIn = (some: readonly string[]) => shape !== undefined && some.some((word) => setsFlag(word, name, shape));
    if (value === undefined || value === false || !isIn(words)) return [];
    const from = isIn(typed) ? {} : ({ fromEnvironment: true } as const);
    if (value === true) return [{ name, word: `--${name}`, ...from }];
    return (Array.isArray(value) ? value : [value]).map((one) => ({ name, word: withoutAddressCredentials(`--${name}=${one}`), ...from }));
  });
}
