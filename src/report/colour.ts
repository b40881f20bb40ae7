import { ownColour } from '../kernel/visible.ts';

/** The codes that begin and end each. */
const PAINTS = { good: [32, 39], bad: [31, 39], warn: [33, 39], dim: [2, 22], strong: [1, 22], place: [36, 39] } as const;

/** Paints text for a terminal; every function returns its text unchanged where colour is off. */
export type Palette = Readonly<Record<keyof typeof PAINTS, (text: string) => string>>;

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
  return Object.fromEntries(Object.entries(PAINTS).map(([name, codes]) => [name, paint(codes)])) as Palette;
}

export const plain = palette({ isTerminal: false, env: {} });
