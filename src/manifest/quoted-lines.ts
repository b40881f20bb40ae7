/** A text in quotes of which later lines were pushed to the right. */
export interface QuoteRepair {
  /** The whole text, with the same number of lines. */
  readonly text: string;
  /** Where the quote opens, counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** Longer texts in quotes are nobody's. */
const MAX_LINES = 100;

const OPENING = /^( *(?:- +)*)(?:[^\s'"#][^'"]*|'[^']*'|"[^"]*")?:[ \t]+(?=['"])/;

/** Indents later lines of quoted text, which only kubectl accepts at the key's column. Undefined if none spans `brokenAt`. */
export function indentQuotedLines(text: string, brokenAt: number): QuoteRepair | undefined {
  const opening = openingBefore(text, brokenAt);
  if (!opening) return undefined;
  const { start, at, keyColumn } = opening;
  const end = closingQuote(text, at);
  if (end === undefined || end < brokenAt) return undefined;
  const indent = ' '.repeat(keyColumn + 1);
  const inside = text.slice(at, end).replaceAll(/\n *(?=[^\s])/g, (margin) => (margin.length > indent.length ? margin : `\n${indent}`));
  const line = text.slice(0, at).split('\n').length;
  return { text: text.slice(0, at) + inside + text.slice(end), line, column: at - start + 1 };
}

interface Opening {
  /** Offsets of the line and of its quote. */
  readonly start: number;
  readonly at: number;
  readonly keyColumn: number;
}

/** In the nearest line that begins a quoted text: the lines between may be its well indented continuation. */
function openingBefore(text: string, brokenAt: number): Opening | undefined {
  let end = brokenAt;
  for (let lines = 0; lines < MAX_LINES && end >= 0; lines += 1) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const opening = OPENING.exec(text.slice(start, end));
    if (opening) return { start, at: start + opening[0].length, keyColumn: (opening[1] ?? '').length };
    if (start === 0) return undefined;
    end = start - 1;
  }
  return undefined;
}

/** Where the quote that opens at `at` closes; undefined if it never does. */
function closingQuote(text: string, at: number): number | undefined {
  const rest = /^(?:'(?:[^']|'')*'|"(?:[^"\\]|\\[\s\S])*")/.exec(text.slice(at));
  return rest ? at + rest[0].length : undefined;
}
