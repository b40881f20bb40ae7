/** What reading the environment needs to know of a flag. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly multiple?: boolean;
}

/** A flag as the build found it in the command's own definition. */
export interface PlainFlag extends FlagShape {
  /** The only values it may have. */
  readonly options?: readonly string[];
  readonly default?: string | number;
  /** Its value is not taken as it is written (a number): only oclif reads it. */
  readonly converted?: true;
}

export type PlainFlags = Readonly<Record<string, PlainFlag>>;

interface Given {
  readonly name: string;
  readonly value: string | true;
}

/**
 * Reads `--name=value`, `--name value`, `-n value` and `--name` as oclif would. Undefined for all else, which oclif reads or refuses:
 * unknown or repeated flags, arguments, values missing, not allowed or like a flag.
 */
export function readPlainFlags(words: readonly string[], flags: PlainFlags): Readonly<Record<string, unknown>> | undefined {
  const values: Record<string, unknown> = {};
  for (let at = 0; at < words.length; ) {
    const given = givenBy(words[at] ?? '', words[at + 1], flags);
    if (!given || !add(values, given, flags)) return undefined;
    at += given.words;
  }
  for (const [name, flag] of Object.entries(flags)) if (flag.default !== undefined) values[name] ??= flag.default;
  return values;
}

/** The flag that this word begins, and how many words it takes. */
function givenBy(word: string, next: string | undefined, flags: PlainFlags): (Given & { readonly words: number }) | undefined {
  const [, written = '', value] = /^(--[a-z-]+|-[a-z])(?:=(.*))?$/s.exec(word) ?? [];
  const isShort = !written.startsWith('--');
  const name = isShort ? Object.keys(flags).find((one) => `-${flags[one]?.char}` === written) : written.slice(2);
  const flag = name !== undefined && Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (!flag || name === undefined || flag.converted || (isShort && value !== undefined)) return undefined;
  if (flag.type === 'boolean') return value === undefined ? { name, value: true, words: 1 } : undefined;
  if (value !== undefined) return { name, value, words: 1 };
  return next === undefined ? undefined : { name, value: next, words: 2 };
}

/** False if oclif has to evaluate it. */
function add(values: Record<string, unknown>, { name, value }: Given, flags: PlainFlags): boolean {
  const { multiple, options } = flags[name] ?? {};
  const before = values[name];
  if (typeof value === 'string' && (/^(?:-|$)/.test(value) || (options && !options.includes(value)))) return false;
  if (multiple) values[name] = [...(Array.isArray(before) ? before : []), value];
  else if (before === undefined) values[name] = value;
  else return false;
  return true;
}

/** Names that are looked up when the shell asks: in the kubeconfig, or at the API server. */
export type LiveNames = 'contexts' | 'clusters' | 'users' | 'namespaces' | 'nodes';

/** What completion knows of a flag. */
export interface FlagEntry {
  readonly name: string;
  readonly char?: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly values?: readonly string[];
  /** The value is a file or folder, or may be one: the shell completes it. */
  readonly file?: boolean;
  readonly repeatable?: boolean;
  readonly live?: LiveNames;
  /** Values after which `=SUBJECT` may stand, with what the subjects are. */
  readonly subjects?: Readonly<Record<string, LiveNames>>;
}

export interface CommandEntry {
  readonly about: string;
  readonly flags: readonly FlagEntry[];
  /** Values of the first argument. */
  readonly values?: readonly string[];
}

/**
 * Made at build time, so that help, version and completion need nothing but this (docs/internals/decisions/start-up.md). What is large has files
 * of its own, each read only by what needs it: reading JSON is most of what `--help` takes beside Node's start.
 */
export interface FastPathTable {
  readonly version: string;
  /** Every command, in the order of the help. */
  readonly names: readonly string[];
  /** Commands that run without oclif if their flags are plain. */
  readonly plain: Readonly<Record<string, PlainFlags>>;
  /** What values mean that say little by themselves: check ids. */
  readonly titles?: Readonly<Record<string, string>>;
  /** A file of its own, for completion. */
  readonly commands: Readonly<Record<string, CommandEntry>>;
  /** The page of a command, or of the root (''), by displayed name: each page is a file of its own. */
  help(page: string): Readonly<Record<string, string>> | undefined;
}
