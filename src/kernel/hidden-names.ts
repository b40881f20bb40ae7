import { NAME_END } from './secret-names.ts';

/** Behind a flag that is an item of a list: the next item, unless it is a flag as well. */
const IN_LIST =
  '(?<=--?[\\w-]{2,80})\\\\*["\']?(?:[ \\t]{0,8},\\s{0,200}(?=\\\\{0,15}["\'](?!-))|(?:\\r?\\n|\\\\{1,15}n)[ \\t]{0,200}-[ \\t]{1,8}(?!["\']?-)(?!\\s))';

/**
 * A name that says what follows is a credential, and the sign between them: `A_TOKEN=`, `"password": `, `--token `.
 * In a list they are two items: `"--token", "`, or two lines of YAML.
 */
const NAMED = new RegExp(
  `${NAME_END}(?:(\\\\*["'])?\\]?(?:\\.value)?[ \\t]{0,40}[=:][ \\t]{0,40}(?:[+-] )?|(?<=--[\\w-]{2,80})[ \\t]{1,40}(?![\\s-])|${IN_LIST}|(?<!secrets?|credentials?)[ \\t]{1,8}(?=\\\\{0,15}["']))`,
  'gi',
);

/** `"name": "A_TOKEN", "value": `, also escaped, and the two lines of YAML. */
const VARIABLE = new RegExp(
  `\\bname\\\\*["']?[ \\t]{0,8}:[ \\t]{0,8}\\\\*["']?[\\w.-]{0,120}${NAME_END}\\\\*["']?[ \\t]{0,8}(?:,|\\\\n|\\r?\\n)\\s{0,200}\\\\*["']?value\\\\*["']?[ \\t]{0,8}:[ \\t]{0,8}`,
  'gi',
);

/** What is no credential whatever stands before it: nothing, a state, a count. */
const HARMLESS = /^(?:true|false|null|nil|undefined|none|absent|\d{1,3}|\(hidden\)|\(goes\)|[|>][-+]?)?$/i;

/** Hides what such names announce. The next search begins behind what was hidden: a long text is read once. */
export function maskNamed(text: string, hidden: string): string {
  return hideAfter(hideAfter(text, VARIABLE, hidden), NAMED, hidden);
}

function hideAfter(text: string, pattern: RegExp, hidden: string): string {
  let [kept, from] = ['', 0];
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    const list = behind(LIST, text, pattern.lastIndex);
    let at = list ?? pattern.lastIndex;
    for (let next: number | undefined = at; next !== undefined; next = behind(list === undefined ? ARROW : COMMA, text, at)) {
      const { start, end } = valueAt(text, next, found[1] !== undefined, hidden);
      if (end > start && !HARMLESS.test(text.slice(start, Math.min(end, start + LONGEST_HARMLESS)))) {
        kept += text.slice(from, start) + hidden;
        from = end;
      }
      at = Math.max(end, next);
    }
    pattern.lastIndex = at;
  }
  return from === 0 ? text : kept + text.slice(from);
}

const LONGEST_HARMLESS = 20;

/** Between the two states of a field, and between the items of a list. */
const ARROW = /(?:\\{0,40}["'])? → /y;
const COMMA = /(?:\\{0,40}["'])?\s{0,200},\s{0,200}/y;
const LIST = /\[\s{0,200}/y;

/** The end of what the sticky pattern finds at this place. */
function behind(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** Where the value at this place begins and ends, without its quotes; never behind its line. */
function valueAt(text: string, at: number, isKeyQuoted: boolean, hidden: string): Place {
  if (text.startsWith(hidden, at)) return { start: at, end: at + hidden.length };
  const start = behind(OPENING, text, at) ?? at;
  if (start === at) return { start, end: endOf(WORD_END, text, at) };
  // In JSON a quote right behind `password=` ends the text in which it stands.
  if (!isKeyQuoted && start - at === 1 && /^$|[\s,:}\]]/.test(text[start] ?? '')) return { start, end: start };
  return { start, end: closingQuote(text, start, text.slice(at, start)) };
}

/** A quote, and the backslashes that escape it: one in JSON, three in JSON in JSON. */
const OPENING = /(?:\\{15}|\\{7}|\\{3}|\\)?["']/y;

/** Where the same quote stands with as many backslashes or fewer; else the end of the line, or of the JSON text around it. Escaped backslashes do not count. */
function closingQuote(text: string, start: number, opening: string): number {
  const quote = opening.at(-1) ?? '"';
  for (let at = start; at < text.length && text[at] !== '\n'; at += 1) {
    if (text[at] === '"' && quote === "'" && /[\s,:}\]]|^$/.test(text[at + 1] ?? '')) return at;
    if (text[at] !== quote) continue;
    let backslashes = 0;
    while (at - backslashes > start && text[at - backslashes - 1] === '\\') backslashes += 1;
    const escapes = escapesOf(backslashes);
    if (escapes < opening.length) return at - escapes;
  }
  return endOf(LINE_END, text, start);
}

/** Backslashes before a quote that escape it: none of two, which are an escaped backslash, one of five. */
function escapesOf(backslashes: number): number {
  const lowestBit = (backslashes + 1) & -(backslashes + 1);
  return lowestBit - 1;
}

const LINE_END = /(?=\n)/g;

/** Ends a word without quotes: a blank, a quote, or a sign that begins something else. */
const WORD_END = /(?=\s|["'`<>]|\\+["']|[,;&](?:\s|$|[\w.-]{1,40}[=:]|["'])|[)\]}](?:[\s,;:.)\]}"']|$))/g;

/** The first place from here on where the pattern fits. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.index ?? text.length;
}
