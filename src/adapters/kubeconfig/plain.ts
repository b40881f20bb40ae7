import { parsedJson } from '../../kernel/json.ts';

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Something that has more than one reading: the caller asks kubectl instead. */
export class Unclear extends Error {}

/**
 * Reads the YAML that kubectl and other tools write (block or flow collections, one-line values), or JSON; undefined for all else. It
 * guesses nothing: numbers, dates, words like `yes`, escapes, anchors, multi-line text and repeated keys are "else".
 */
export function readPlain(text: string): PlainValue | undefined {
  const json = text.startsWith('{') ? parsedJson(text) : undefined;
  return clearly(() => (json === undefined ? fromLines(text) : fromJson(json, text)));
}

/** Undefined for what is unclear. */
export function clearly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Unclear) return undefined;
    throw thrown;
  }
}

/** JSON.parse keeps the last of repeated keys silently, so a document that does not print back to its own words is unclear. */
function fromJson(value: unknown, text: string): PlainValue {
  const squeezed = (words: string) => words.replace(/\s/g, '');
  if (value === undefined || squeezed(JSON.stringify(value)) !== squeezed(text)) throw new Unclear();
  return value as PlainValue;
}

function fromLines(text: string): PlainValue {
  // Tabs, carriage returns and letters outside of ASCII each have a rule of their own.
  if (!/^[\n\x20-\x7e]*$/.test(text)) throw new Unclear();
  const lines = text
    .split('\n')
    .filter((line) => !/^ *(#.*)?$/.test(line))
    .map((line) => ({ indent: line.search(/[^ ]/), text: line.trim() }));
  return new Block(lines).document();
}

const ENTRY = /^([A-Za-z][A-Za-z0-9-]*):(?: +(.+))?$/;

class Block {
  readonly #lines: Line[];
  #at = 0;

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  /** The block that the text is as a whole. */
  document(): PlainValue {
    const value = this.value(0);
    if (this.#at < this.#lines.length) throw new Unclear();
    return value;
  }

  /** The block that starts at this indent. */
  value(indent: number): PlainValue {
    const line = this.#next(indent);
    if (line && isFlow(line.text)) {
      this.#at += 1;
      return this.#scalar(line.text, indent - 1);
    }
    return isItem(line) ? this.#list(indent) : this.#mapping(indent);
  }

  #next(indent: number): Line | undefined {
    const line = this.#lines[this.#at];
    return line?.indent === indent ? line : undefined;
  }

  #list(indent: number): PlainValue {
    const items: PlainValue[] = [];
    for (let line = this.#next(indent); line && isItem(line); line = this.#next(indent)) {
      const rest = line.text.slice(2).trimStart();
      if (ENTRY.test(rest)) {
        // `- name: x` is a mapping whose first line stands behind the dash.
        const inner = indent + line.text.length - rest.length;
        this.#lines[this.#at] = { indent: inner, text: rest };
        items.push(this.#mapping(inner));
      } else {
        this.#at += 1;
        items.push(this.#scalar(rest, indent));
      }
    }
    return items;
  }

  #mapping(indent: number): PlainValue {
    const found = new Map<string, PlainValue>();
    for (let line = this.#next(indent); line; line = this.#next(indent)) {
      // An item of the list that this mapping is in.
      if (isItem(line)) break;
      const [, key, rest] = ENTRY.exec(line.text) ?? [];
      if (key === undefined || found.has(key)) throw new Unclear();
      this.#at += 1;
      found.set(key, rest === undefined ? this.#below(indent) : this.#scalar(rest, indent));
    }
    if (found.size === 0) throw new Unclear();
    return Object.fromEntries(found);
  }

  /** A value that begins on a line already taken; what is in brackets continues over the lines that stand further right. */
  #scalar(text: string, indent: number): PlainValue {
    if (!isFlow(text)) return scalar(text);
    let whole = text;
    for (let line = this.#lines[this.#at]; !isClosed(whole); line = this.#lines[this.#at]) {
      if (line === undefined || line.indent <= indent) throw new Unclear();
      whole += `\n${line.text}`;
      this.#at += 1;
    }
    return readFlow(whole);
  }

  /** What stands under `key:`; a list may stand as far left as its key. */
  #below(indent: number): PlainValue {
    const line = this.#lines[this.#at];
    if (line && line.indent > indent) return this.value(line.indent);
    return isItem(this.#next(indent)) ? this.#list(indent) : null;
  }
}

function isFlow(text: string): boolean {
  return text.startsWith('{') || text.startsWith('[');
}

function isItem(line: Line | undefined): boolean {
  return line?.text.startsWith('- ') === true;
}

const WORDS: Readonly<Record<string, PlainValue>> = { true: true, false: false, null: null, '{}': {}, '[]': [] };
const LONGEST_WORD = Math.max(...Object.keys(WORDS).map((word) => word.length));
/** Two questions: one for the whole would go back over each letter of a long value. */
const [PLAIN_START, NOT_PLAIN] = [/^(?:--|\.\.?\/)?[A-Za-z/]/, /[^\w./@+=:-]/];
/** Words that some version of YAML takes for a truth value or for nothing. */
const AMBIGUOUS = /^(y|n|yes|no|on|off|true|false|null)$/i;

/** One value as it is written. Throws Unclear. */
export function scalar(text: string): PlainValue {
  // A file of 200 contexts has some 400 kB of certificates: none is looked up as a word, and most values are plain.
  const word = text.length <= LONGEST_WORD && Object.hasOwn(WORDS, text) ? WORDS[text] : undefined;
  if (word !== undefined) return word;
  if (PLAIN_START.test(text) && !NOT_PLAIN.test(text) && !text.endsWith(':') && !AMBIGUOUS.test(text)) return text;
  const quoted = /^"([^"\\]*)"$/.exec(text) ?? /^'([^']*)'$/.exec(text);
  if (quoted?.[1] === undefined) throw new Unclear();
  return quoted[1];
}

/** A value of the plain part of YAML: what it means is the same in every version of YAML, and to kubectl. */
export type PlainValue = string | boolean | null | readonly PlainValue[] | { readonly [key: string]: PlainValue };

/** A key with its colon, or a value. */
const FLOW_WORD = /([A-Za-z][A-Za-z0-9-]*):(?=[ \n])|"([A-Za-z][A-Za-z0-9-]*)" ?:|"[^"\\]*"|'[^']*'|[^\s,[\]{}"']+/g;

/** Whether each bracket that the text opens is closed in it. */
function isClosed(text: string): boolean {
  const brackets = text.replaceAll(/"[^"]*"|'[^']*'/g, '').match(/[[\]{}]/g) ?? [];
  return brackets.reduce((open, one) => open + (one === '[' || one === '{' ? 1 : -1), 0) <= 0;
}

/** One unambiguous flow mapping or list of YAML: JSON as soon as its words are quoted. Throws Unclear for anything else. */
function readFlow(text: string): PlainValue {
  const json = text.replace(FLOW_WORD, (word, bare?: string, quoted?: string) => {
    const key = bare ?? quoted;
    return key === undefined ? JSON.stringify(scalar(word)) : `"${key}":`;
  });
  return fromJson(parsedJson(json), json);
}
