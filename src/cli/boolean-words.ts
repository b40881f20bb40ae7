import { Fault } from '../kernel/fault.ts';
import type { FlagShape } from './environment.ts';

type Shapes = Readonly<Record<string, FlagShape>>;

/** A word of a command line, with the boolean flag that it switches. */
interface Word {
  readonly text: string;
  readonly sets?: { readonly name: string; readonly on: boolean };
}

/**
 * Turns kubectl's `--yes=true` into the parser's bare flag; `--yes=false` removes earlier words for it. The last word counts, as in
 * kubectl, and the environment's come first. Throws Fault('usage') for any other value.
 */
export function withBareBooleans(argv: readonly string[], flags: Shapes): readonly string[] {
  const end = argv.indexOf('--');
  const words = wordsOf(argv, flags);
  const last = new Map(words.flatMap(({ sets }) => (sets ? [[sets.name, sets.on] as const] : [])));
  const kept = words.filter(({ sets }) => !sets || (sets.on && last.get(sets.name)));
  return [...kept.map(({ text }) => text), ...(end < 0 ? [] : argv.slice(end))];
}

/** What the last word about a boolean flag says; undefined where none does. */
export function writtenBoolean(argv: readonly string[], name: string, flags: Shapes): boolean | undefined {
  return wordsOf(argv, flags).findLast(({ sets }) => sets?.name === name)?.sets?.on;
}

/** Those before `--`: after it everything is an argument. */
function wordsOf(argv: readonly string[], flags: Shapes): readonly Word[] {
  const end = argv.indexOf('--');
  let isValue = false;
  return (end < 0 ? argv : argv.slice(0, end)).flatMap((text): readonly Word[] => {
    const words = isValue ? [{ text }] : separate(text, flags).map((word) => wordOf(word, flags));
    isValue = !isValue && awaitsValue(text, flags);
    return words;
  });
}

function wordOf(text: string, flags: Shapes): Word {
  const [, written = text, value] = /^(--?[^=]+)=(.*)$/s.exec(text) ?? [];
  const name = nameOf(written, flags);
  if (name === undefined || flags[name]?.type !== 'boolean') return { text };
  if (value === undefined || /^true$/i.test(value)) return { text: written, sets: { name, on: true } };
  if (/^false$/i.test(value)) return { text: written, sets: { name, on: false } };
  throw new Fault('usage', `${written}=${value} is neither true nor false`, [`write ${written}, or ${written}=false to switch it off`]);
}

/** `-qy` as `-q` and `-y`, if all of them are boolean. */
function separate(text: string, flags: Shapes): readonly string[] {
  if (!/^-\w{2,}$/.test(text)) return [text];
  const each = [...text.slice(1)].map((char) => `-${char}`);
  return each.every((one) => flags[nameOf(one, flags) ?? '']?.type === 'boolean') ? each : [text];
}

/** The next word is the value of this one, whatever it looks like. */
function awaitsValue(text: string, flags: Shapes): boolean {
  return flags[nameOf(text, flags) ?? '']?.type === 'option';
}

function nameOf(written: string, flags: Shapes): string | undefined {
  if (written.startsWith('--')) return Object.hasOwn(flags, written.slice(2)) ? written.slice(2) : undefined;
  return Object.keys(flags).find((name) => flags[name]?.char !== undefined && written === `-${flags[name].char}`);
}
