import { type AnyCommand, Command } from '../kernel/command.ts';
import { type Part, type Said, textOf } from '../kernel/step.ts';
import { MARK, ownColour } from '../kernel/visible.ts';

/** The codes that begin and end each. */
const PAINTS = { good: [32, 39], bad: [31, 39], warn: [33, 39], dim: [2, 22], strong: [1, 22], place: [36, 39] } as const;

type Paints = Readonly<Record<keyof typeof PAINTS, (text: string) => string>>;

/** Paints text for a terminal; every function returns its text unchanged where colour is off. */
export interface Palette extends Paints {
  /** A sentence: no line break parts a command in it. */
  readonly said: (said: Said | AnyCommand) => string;
  /** A command of a document, where it is text already. */
  readonly whole: (text: string) => string;
  /** A piece of a line, which stays together if a line has room for it. */
  readonly piece: (text: string) => string;
  /** Continued lines begin here. */
  readonly column: string;
}

interface ColourFacts {
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Without colour for anything but a terminal, for NO_COLOR (empty is as if it were not set: no-color.org) and for TERM=dumb. */
export function palette({ isTerminal, env }: ColourFacts): Palette {
  const isOn = isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint =
    ([open, close]: readonly [number, number]) =>
    (text: string) =>
      isOn ? ownColour(open) + text + ownColour(close) : text;
  const paints = Object.fromEntries(Object.entries(PAINTS).map(([name, codes]) => [name, paint(codes)])) as Paints;
  const marked = (mark: string) => (text: string) => (isTerminal ? mark + text + MARK.end : text);
  const whole = marked(MARK.whole);
  return {
    ...paints,
    said: (said) =>
      partsOf(said)
        .map((part) => (part instanceof Command ? whole(part.plain) : typeof part === 'string' ? part : part.plain))
        .join(''),
    whole,
    piece: marked(MARK.piece),
    column: isTerminal ? MARK.column : '',
  };
}

const partsOf = (said: Said | AnyCommand): readonly Part[] => (said instanceof Command ? [said] : textOf(said).parts);

export const plain = palette({ isTerminal: false, env: {} });
