import { ownColour } from '../kernel/visible.ts';

/** Paints text for a terminal; every function returns its text unchanged where colour is off. */
export interface Palette {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly place: (text: string) => string;
}

export interface ColourFacts {
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Off for anything but a terminal, for NO_COLOR (empty is as if it were not set: no-color.org) and for TERM=dumb. */
export function hasColour({ isTerminal, env }: ColourFacts): boolean {
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}

const paint = (open: number, close: number) => (text: string) => ownColour(open) + text + ownColour(close);
const same = (text: string) => text;

export const plain: Palette = { good: same, bad: same, warn: same, dim: same, strong: same, place: same };
const coloured: Palette = {
  good: paint(32, 39),
  bad: paint(31, 39),
  warn: paint(33, 39),
  dim: paint(2, 22),
  strong: paint(1, 22),
  place: paint(36, 39),
};

export function palette(facts: ColourFacts): Palette {
  return hasColour(facts) ? coloured : plain;
}
