import { type AnyCommand, Command } from './command.ts';

/** The command that was typed, where a sentence says that it is to be run again. */
export class Again {
  /** Where the command itself cannot stand. */
  readonly said: string;
  /** What stands before the command where it can. */
  readonly before: string;
  /** A flag that the command is to have: `max-failed`, and its value. */
  readonly flag: readonly [name: string, value: string] | undefined;

  constructor(said: string, before: string, flag?: readonly [name: string, value: string]) {
    this.said = said;
    this.before = before;
    this.flag = flag;
  }

  get plain(): string {
    return this.said;
  }

  toString(): string {
    return this.plain;
  }

  /** With the command that resumes. */
  with(resume: Command): readonly Part[] {
    if (this.flag === undefined) return [this.before, resume];
    const [name, value] = this.flag;
    return [this.before, resume.without(name).with(`--${name}=${value}`)];
  }
}

export type Part = string | AnyCommand | Again;

/** A sentence in parts: what is a command in it is known, not looked for. It has no methods of a string: nobody decides by its words. */
export class Text {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** As one string, for a machine or a file; a screen has it from its palette (`said`). */
  get plain(): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : part.plain)).join('');
  }

  /** For tests and debuggers, as that of `Command`. */
  toString(): string {
    return this.plain;
  }

  toJSON(): string {
    return this.plain;
  }

  get commands(): readonly AnyCommand[] {
    return this.parts.filter((part) => part instanceof Command);
  }

  /** The first command in it. */
  get command(): AnyCommand | undefined {
    return this.commands[0];
  }

  masked(hide: (text: string) => string): Text {
    return new Text(this.parts.map((part) => (typeof part === 'string' ? hide(part) : part instanceof Command ? part.masked(hide) : part)));
  }

  map(of: (part: AnyCommand | Again) => Part | readonly Part[]): Text {
    return new Text(this.parts.flatMap((part) => (typeof part === 'string' ? part : of(part))));
  }
}

/** What is said to the user. As a string it holds no command. */
export type Said = string | Text;

export const textOf = (said: Said): Text => (said instanceof Text ? said : new Text([said]));

/** As one string, for a machine or a file. */
export const plainText = (said: Said): string => textOf(said).plain;

/** For a page: its commands stand between ticks. */
export const markdownOf = (said: Said): string =>
  textOf(said)
    .parts.map((part) => (part instanceof Command ? `\`${part.plain}\`` : typeof part === 'string' ? part : part.plain))
    .join('');

/** A sentence with commands in it. */
export function text(words: TemplateStringsArray, ...values: readonly (Part | Text | number)[]): Text {
  const parts = words.flatMap((word, index): readonly Part[] => {
    const value = values[index];
    if (value instanceof Text) return [word, ...value.parts];
    return [word, ...(value === undefined ? [] : [typeof value === 'number' ? String(value) : value])];
  });
  return new Text(parts.filter((part) => part !== ''));
}

/** The same with a capital at its beginning. */
export function sentence({ parts: [first, ...rest] }: Text): Text {
  return new Text([typeof first === 'string' ? `${first.charAt(0).toUpperCase()}${first.slice(1)}` : (first ?? ''), ...rest]);
}

/** Sentences after one another. */
export function joined(all: readonly Said[], by: string): Text {
  return new Text(all.flatMap((one, index) => [...(index === 0 ? [] : [by]), ...textOf(one).parts]));
}

/** What a step is for. */
export type StepKind =
  /** It shows why. */
  | 'look'
  | 'do'
  /** It repairs with a tool of others, and nothing asks before it: never the next command. */
  | 'fix'
  /** It may be done instead. */
  | 'or'
  /** What it means for traffic. */
  | 'impact'
  /** Words of others. */
  | 'says'
  /** What those mean. */
  | 'means';

interface More {
  /** What stands before the text where no row says the kind: `see why: `. */
  readonly label?: string;
  /** It keeps the damage small: on a screen it stands before what can be undone. */
  readonly contains?: true;
  /** Sentences of an impact, and the nodes on which new pods get no network. */
  readonly impact?: Impact;
  /** Its command shows what runs there. */
  readonly node?: string;
  /** Of one that was kept: program and arguments of its command, which is never shown as one. */
  readonly argv?: readonly string[];
}

/** What a stop means for traffic. */
export interface Impact {
  readonly sentences: readonly string[];
  readonly withoutNetwork?: string;
  /** Its first sentence goes by the data plane, and is to be said again once that is known. */
  readonly ofStop?: true;
}

/** One thing that the user is told beside a fact. */
export class Step {
  readonly kind: StepKind;
  readonly text: Text;
  readonly more: More;

  constructor(kind: StepKind, said: Said, more: More = {}) {
    this.kind = kind;
    this.text = textOf(said);
    this.more = more;
  }

  /** With its label. */
  get whole(): Text {
    const { label } = this.more;
    return label === undefined ? this.text : new Text([label, ...this.text.parts]);
  }

  get plain(): string {
    return this.whole.plain;
  }

  toString(): string {
    return this.plain;
  }

  toJSON(): StepDocument {
    const { argv = this.text.command?.argv } = this.more;
    return { kind: this.kind, text: this.plain, ...(argv === undefined ? {} : { command: argv }) };
  }

  masked(hide: (text: string) => string): Step {
    return this.as(this.text.masked(hide));
  }

  /** The same in other words. */
  as(said: Text): Step {
    return new Step(this.kind, said, this.more);
  }
}

/** A step in a document. */
export interface StepDocument {
  readonly kind: StepKind;
  readonly text: string;
  /** Program and arguments. */
  readonly command?: readonly string[];
}

/** With its label, of one that was kept as well. */
export const wholeOf = (step: Step | StepDocument): Said => (step instanceof Step ? step.whole : step.text);

/** One of a report that was kept. */
export const keptStep = ({ kind, text: said, command: argv }: StepDocument): Step =>
  new Step(kind, said, argv === undefined ? {} : { argv });

/** What a fault or a finding is made with. */
export type Suggestion = Said | Again | Step;

export function stepOf(one: Suggestion): Step {
  if (one instanceof Step) return one;
  return new Step('do', one instanceof Again ? new Text([one]) : one);
}

/** The next command as a step: one of others shows more. */
export const nextStepOf = (next: Command): Step => new Step(next.own === undefined ? 'look' : 'do', new Text([next]));

/** A command that shows more, behind words that say what. */
export const look = (said: Text): Step => new Step('look', said);
export const seeWhy = (command: Command): Step => new Step('look', text`${command}`, { label: 'see why: ' });
export const means = (said: Said): Step => new Step('means', said, { label: 'this means: ' });
export const says = (said: string): Step => new Step('says', said);
export const fix = (said: Said): Step => new Step('fix', said, { label: 'fix: ' });
export const or = (said: Said): Step => new Step('or', said, { label: 'or ' });

/** What keeps the damage small meanwhile. */
export const contain = (said: Said): Step => new Step('do', said, { contains: true });

/** The sentences as one, in small letters. */
export function impact(first: string, then?: string, more: Omit<Impact, 'sentences'> = {}): Step {
  const sentences = [first, ...(then === undefined ? [] : [then])];
  return new Step('impact', sentences.join('; '), { impact: { sentences, ...more } });
}

/** The same command once more, in the words of a sentence that ends with it. */
export const AGAIN = new Again('run the same command again', 'resume: ');
/** The same as a sentence after others. */
export const THEN_AGAIN = new Again('then run the same command again', 'resume: ');
/** After a no. */
export const WHEN_READY = new Again('run the same command when you are ready', 'resume: ');
/** What it does then, which only stands where the command does not. */
export const againAs = (does: string): Again => new Again(`run the same command again: ${does}`, 'resume: ');
export const thenAgainAs = (does: string): Again => new Again(`then run the same command again: ${does}`, 'resume: ');
