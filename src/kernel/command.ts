import { OWN_NAME, ownName } from './own-name.ts';
import { quoteArgument } from './quoting.ts';

/** One word of a command line: what the program gets, and how it is typed. */
export interface Word {
  readonly value: string;
  readonly shown: string;
}

/** Whom a command asks: it is given the flags of the connection, only those of the kubeconfig, or none. */
export type Asks = 'cluster' | 'kubeconfig' | 'nothing';

/** What it does: shows something, or is of this program, which shows its plan and asks. Or it repairs or deletes at once, with a tool of others. */
export type Does = 'shows' | 'repairs';

interface Traits<D extends Does> {
  readonly asks: Asks;
  readonly does: D;
  /** Behind it, where it is shown: a shell leaves it out. */
  readonly comment?: string | undefined;
}

/** Where a program begins that a command starts, behind a pipe too. */
export interface Start {
  readonly program: 'kubectl' | 'helm' | 'own';
  /** Of this program: `ownerrefs`. */
  readonly sub?: string;
  /** Words up to where flags may follow. */
  readonly end: number;
}

/**
 * A suggested command line: words, of which each is one argument, and operators of the shell. Only the templates below make one. What may
 * come next is a `Command`; a `RepairCommand` is not.
 */
export class Command<D extends Does = 'shows'> {
  readonly words: readonly Word[];
  readonly asks: Asks;
  readonly does: D;
  readonly comment: string | undefined;

  constructor(words: readonly Word[], { asks, does, comment }: Traits<D>) {
    this.words = words;
    this.comment = comment;
    this.asks = asks;
    this.does = does;
  }

  /** As it is typed, for a machine or a file; a screen has it from its palette (`said`), which keeps it on one line. */
  get plain(): string {
    return this.#called.map(({ shown }) => shown).join(' ') + (this.comment === undefined ? '' : `   # ${this.comment}`);
  }

  /** For tests and debuggers. In `src` it may not be put into a string: it would be given no flags, and be parted (`build/printed.ts`). */
  toString(): string {
    return this.plain;
  }

  toJSON(): string {
    return this.plain;
  }

  /** For machines: program and arguments; what only a shell understands is given to one. */
  get argv(): readonly string[] {
    if (this.words.some(({ shown }) => OPERATORS.has(shown))) return ['sh', '-c', this.plain];
    return this.#called.map(({ value }) => value);
  }

  /** Its words, this program by the name that the user called it by. */
  get #called(): readonly Word[] {
    const own = startsIn(this.words).flatMap(({ program, end }) => (program === 'own' ? [end - OWN_WORDS.length - 1] : []));
    const name = ownName().split(' ').map(wordOf);
    return own.reduceRight<readonly Word[]>((words, at) => words.toSpliced(at, OWN_WORDS.length, ...name), this.words);
  }

  /** The sub-command, if it is one of this program. */
  get own(): string | undefined {
    return startsIn(this.words).find(({ end }) => end <= OWN_WORDS.length + 1)?.sub;
  }

  /** True if it gives this flag: `release`. */
  gives(flag: string): boolean {
    return this.words.some(({ value }) => value === `--${flag}` || value.startsWith(`--${flag}=`));
  }

  /** The same with more words behind the name of each program. */
  withFlags(more: (start: Start) => readonly Word[]): Command<D> {
    const flags = new Map(startsIn(this.words).map((start) => [start.end, more(start)] as const));
    const words = this.words.flatMap((word, index) => [word, ...(flags.get(index + 1) ?? [])]);
    return new Command(words, this);
  }

  /** The same without a flag and its value, which may be a word of its own. */
  without(flag: string): Command<D> {
    const isApart = (index: number) => this.words[index]?.value === `--${flag}`;
    const words = this.words.filter(({ value }, index) => !isApart(index) && !isApart(index - 1) && !value.startsWith(`--${flag}=`));
    return new Command(words, this);
  }

  /** The same without the answer to its question. */
  asking(): Command<D> {
    const words = this.words.flatMap((word) => {
      const [, before, after] = /^-([qv]*)y([qv]*)$/.exec(word.value) ?? [];
      if (word.value === '--yes' || `${before}${after}` === '') return [];
      return before === undefined ? [word] : [wordOf(`-${before}${after}`)];
    });
    return new Command(words, this);
  }

  /** A word that is hidden in part is hidden both as it is and as it is typed. */
  masked(hide: (text: string) => string): Command<D> {
    return new Command(
      this.words.map(({ value, shown }) => ({ value: hide(value), shown: hide(shown) })),
      this,
    );
  }

  repairing(): RepairCommand {
    return new Command(this.words, { asks: this.asks, does: 'repairs', comment: this.comment });
  }

  commented(comment: string): Command<D> {
    return new Command(this.words, { ...this, comment });
  }

  /** The same with words at its end. */
  with(...more: readonly (string | Word)[]): Command<D> {
    return new Command([...this.words, ...more.map((one) => (typeof one === 'string' ? wordOf(one) : one))], this);
  }
}

/** It repairs or deletes, and nothing asks before: never the command that comes next. */
export type RepairCommand = Command<'repairs'>;

/** Either. */
export type AnyCommand = Command<Does>;

export const mayComeNext = (one: AnyCommand): one is Command => one.does === 'shows';

export const wordOf = (value: string): Word => ({ value, shown: quoteArgument(value) });

/** What may be put into a command: one word, or a list of words. Nothing for undefined and for the empty text. */
export type CommandValue = string | number | undefined | readonly string[];

type Template<D extends Does> = (parts: TemplateStringsArray, ...values: readonly CommandValue[]) => Command<D>;

const template =
  <D extends Does>(traits: Traits<D>): Template<D> =>
  (parts, ...values) =>
    new Command(wordsOf(parts, values), traits);

/**
 * A command suggested to the user, quoted for a POSIX shell: each inserted value is one word, a list one word per item. Every suggested
 * command is made here, because names, files and releases are text of others.
 */
export const command = template({ asks: 'cluster', does: 'shows' });

/** One that changes or deletes something at once. */
export const repairCommand = template({ asks: 'cluster', does: 'repairs' });
/** The same on this machine. */
export const localRepairCommand = template({ asks: 'nothing', does: 'repairs' });

/** One that asks no cluster: of this machine, of files, of a registry. */
export const localCommand = template({ asks: 'nothing', does: 'shows' });

/** One that reads the kubeconfig alone: which context is meant may be the question. */
export const kubeconfigCommand = template({ asks: 'kubeconfig', does: 'shows' });

/** A command of this program from its words as they were typed, quoted. */
export function ownCommand(line: string): Command {
  return new Command([...OWN_WORDS.map(wordOf), ...wordsOf([line], [])], { asks: 'cluster', does: 'shows' });
}

/** One after another, each only if the one before it succeeded. */
export function repairsInTurn(all: readonly RepairCommand[]): RepairCommand {
  const words = all.flatMap((one, index) => [...(index === 0 ? [] : [AND]), ...one.words]);
  return new Command(words, { asks: 'cluster', does: 'repairs' });
}

const OWN_WORDS = OWN_NAME.split(' ');
const AND: Word = { value: '&&', shown: '&&' };
const OPERATORS: ReadonlySet<string> = new Set(['|', '&&', ';', '>']);

/** Splits literal parts as a shell does. What is inserted is never split. */
function wordsOf(parts: readonly string[], values: readonly CommandValue[]): readonly Word[] {
  const splitter = new Splitter();
  for (const [index, part] of parts.entries()) {
    splitter.literal(part);
    splitter.insert(listOf(values[index]));
  }
  return splitter.end();
}

function listOf(value: CommandValue): readonly string[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === '' ? [] : [String(value)];
}

class Splitter {
  readonly #words: Word[] = [];
  #word: Word | undefined;
  #quote = '';

  literal(part: string): void {
    for (let at = 0; at < part.length; at += 1) {
      const letter = part.charAt(at);
      const isEscape = letter === '\\' && this.#quote !== "'";
      if (isEscape) at += 1;
      if (letter === ' ' && this.#quote === '') this.end();
      else if (this.#isQuote(letter)) this.#add('', letter);
      else this.#add(part.charAt(at), isEscape ? letter + part.charAt(at) : letter);
    }
  }

  insert(values: readonly string[]): void {
    for (const [at, one] of values.entries()) {
      if (at > 0) this.end();
      this.#add(one, quoteArgument(one));
    }
  }

  end(): readonly Word[] {
    if (this.#word !== undefined) this.#words.push(this.#word);
    this.#word = undefined;
    return this.#words;
  }

  /** Begins or ends a quotation. */
  #isQuote(letter: string): boolean {
    if (this.#quote === '' ? letter !== "'" && letter !== '"' : letter !== this.#quote) return false;
    this.#quote = this.#quote === '' ? letter : '';
    return true;
  }

  #add(value: string, shown: string): void {
    this.#word = { value: (this.#word?.value ?? '') + value, shown: (this.#word?.shown ?? '') + shown };
  }
}

/** A variable for one program alone stands before it. */
const VARIABLE = /^[A-Z_]+=/;

function startsIn(words: readonly Word[]): readonly Start[] {
  const starts: Start[] = [];
  let [isBegin, isBehindXargs] = [true, false];
  for (const [index, { value, shown }] of words.entries()) {
    if (OPERATORS.has(shown)) [isBegin, isBehindXargs] = [true, false];
    else if (isBegin && (value === 'kubectl' || value === 'helm')) {
      const sub = words[index + 2]?.value;
      const isOwn = words[index + 1]?.value === OWN_WORDS[1] && sub !== undefined;
      starts.push(isOwn ? { program: 'own', sub, end: index + 3 } : { program: value, end: index + 1 });
      isBegin = false;
    } else if (value === 'xargs') isBehindXargs = true;
    else if (!isBehindXargs && !VARIABLE.test(value)) isBegin = false;
  }
  return starts;
}
