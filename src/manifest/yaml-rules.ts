import {
  Document,
  isAlias,
  isCollection,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  parseDocument,
  type ScalarTag,
  type Tags,
  visit,
} from 'yaml';
import { counted } from '../kernel/counted.ts';
import { messageOf } from '../kernel/fault.ts';
import { readQuickly } from './quick-yaml.ts';
import { withinTime } from './within-time.ts';

/** What kubectl's reader leaves as plain strings although YAML 1.1 has a tag for it. */
const UNUSED_TAGS = /:(timestamp|binary|set|omap|pairs)$/;

/** kubectl also reads the octal numbers of YAML 1.2. */
const octalOfYaml12: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => Number.parseInt(text.replace('0o', ''), 8),
};

/** Never read, only matched in writing: text that some reader could take for a number or a merge key is quoted. */
const numberLike: ScalarTag = { tag: 'tag:yaml.org,2002:float', default: true, test: /^[-+.]?[0-9]|^[-+.=]|^<<$/, resolve: (text) => text };

/** Without a digit before the exponent it is no number, such as a commit's hash `e39`, whatever the library says. */
function withDigit(tag: ScalarTag): ScalarTag {
  if (!tag.tag.endsWith(':float') || !tag.test || tag.test.test('.inf')) return tag;
  return { ...tag, test: new RegExp(`^(?=[-+]?\\.?[0-9])(?:${tag.test.source})`) };
}

function kubectlTags(tags: Tags): Tags {
  const kept = tags.filter((tag) => typeof tag === 'string' || !(UNUSED_TAGS.test(tag.tag) || tag.format === 'TIME'));
  return [...kept.map((tag) => (typeof tag === 'string' || tag.collection !== undefined ? tag : withDigit(tag))), octalOfYaml12];
}

export interface YamlProblem {
  /** Counted from 1 within the text. */
  readonly line: number;
  readonly message: string;
}

export interface YamlReading {
  /** Undefined if there is nothing but comments, or a problem. */
  readonly value?: unknown;
  /** Line of the first content, counted from 1. */
  readonly line: number;
  readonly problem?: YamlProblem;
  /** Map keys that are there twice; the last one counts, as for kubectl. */
  readonly repeated: readonly { readonly key: string; readonly line: number }[];
  /** Quoted texts that only kubectl's reader accepts unchanged; read as it does. */
  readonly repaired?: readonly { readonly line: number; readonly column: number }[];
}

/** Lists that repeat themselves by aliases grow without bound; no manifest has this many. */
const MAX_ALIASES = 100;

/** Characters of a document that is read without a time limit: it takes a second at most, whatever it holds. */
const SMALL = 128 * 1024;
export const isSmall = ({ length }: string): boolean => length <= SMALL;

/** The lock is renewed every 15 s and lost after 45 s, and nothing else happens while a text is read. */
export const READING_MS = 20_000;

const MAX_REPAIRS = 100;

/** Characters read for repairs: each reads the whole text again. */
const MOST_READ = 8 * 1024 * 1024;

/** The reader repeats what it found, however long. */
const MAX_MESSAGE = 300;

/**
 * Reads one YAML document by the rules of kubectl: YAML 1.1 without its dates, sets and sexagesimal numbers. One of more than 128 KiB that
 * is not read within 20 s is a problem.
 */
export function readYaml(text: string): YamlReading {
  if (isSmall(text)) return readWhole(text);
  const tooLong = { line: 1, message: `it has ${counted(text.length, 'character')} and could not be read within ${READING_MS / 1000} s` };
  return withinTime(READING_MS, () => readWhole(text)) ?? { line: 1, repeated: [], problem: tooLong };
}

function readWhole(text: string): YamlReading {
  const quick = readQuickly(text, readPlain);
  return quick ? { ...quick, repeated: [] } : readCarefully(text);
}

/** The same by a complete YAML library, for documents of any kind. */
export function readCarefully(text: string): YamlReading {
  const first = readOnce(text);
  const repaired: { line: number; column: number }[] = [];
  let [here, reading] = [text, first];
  while (reading.unclosedAt !== undefined && repaired.length < MAX_REPAIRS && repaired.length * text.length < MOST_READ) {
    const repair = indentQuotedLines(here, reading.unclosedAt);
    if (!repair || repair.text === here) break;
    repaired.push({ line: repair.line, column: repair.column });
    here = repair.text;
    reading = readOnce(here);
  }
  // What is still wrong afterwards is told of the text as it stands.
  if (repaired.length === 0 || reading.problem) return first;
  return { ...reading, repaired };
}

/** A plain text as an item of a list: alone it might be a mark between documents. */
function readPlain(source: string): unknown {
  const { value } = readOnce(`- ${source}`);
  if (!Array.isArray(value) || value.length !== 1) throw new Error(`no plain text: ${source}`);
  return value[0];
}

/** The library looks through the whole document for each; no manifest has a tenth of them. */
const MOST_ANCHORS = 1000;

/** What may be an anchor or an alias, which texts in quotes and comments hold as well. */
const MAY_BE_ANCHOR = /[&*](?=[^\s&*])/g;

function hasTooManyAnchors(text: string): boolean {
  if (!isMoreThan(MOST_ANCHORS, text.matchAll(MAY_BE_ANCHOR))) return false;
  return isMoreThan(MOST_ANCHORS, anchorsIn(text));
}

function* anchorsIn(text: string): Generator<string> {
  for (const token of new Lexer().lex(text)) if (/^[&*]./.test(token)) yield token;
}

function isMoreThan(most: number, found: Iterator<unknown>): boolean {
  let count = 0;
  while (count <= most && found.next().done !== true) count += 1;
  return count > most;
}

/** `unclosedAt`: offset at which the first problem found a quote open. */
function readOnce(text: string): YamlReading & { readonly unclosedAt?: number } {
  if (hasTooManyAnchors(text)) {
    return { line: 1, repeated: [], problem: { line: 1, message: `it has more than ${MOST_ANCHORS} anchors and aliases` } };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    version: '1.1',
    customTags: kubectlTags,
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const repeated = repeatedKeys(document, (at) => lines.linePos(at).line);
  const error = document.errors[0];
  const line = lines.linePos(document.contents?.range?.[0] ?? 0).line;
  if (error) {
    const problem = { line: lines.linePos(error.pos[0]).line, message: error.message.slice(0, MAX_MESSAGE) };
    return { line, repeated, problem, ...(error.code === 'MISSING_CHAR' ? { unclosedAt: error.pos[0] } : {}) };
  }
  if (document.contents === null) return { line, repeated };
  const odd = oddNode(document, text);
  if (odd) return { line, repeated, problem: { line: lines.linePos(odd.at).line, message: odd.message } };
  try {
    return { line, repeated, value: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (thrown) {
    // A merge of what is no map, aliases without end, nesting without end: the reader only finds them here.
    return { line, repeated, problem: { line, message: messageOf(thrown) } };
  }
}

/** Keys that a map has twice, but for merge keys. The library would compare each key with each. */
function repeatedKeys(document: Document.Parsed, lineOf: (at: number) => number): YamlReading['repeated'] {
  const found: { readonly key: string; readonly at: number }[] = [];
  visit(document, {
    Map(_key, map) {
      const known = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key) || key.value === '<<' || typeof key.value === 'symbol') continue;
        if (known.has(key.value)) found.push({ key: String(key.value), at: key.range?.[0] ?? 0 });
        known.add(key.value);
      }
    },
  });
  return found.toSorted((one, other) => one.at - other.at).map(({ key, at }) => ({ key, line: lineOf(at) }));
}

/** Only such texts can have what `oddNode` looks for: looking costs as much as reading. */
const HAS_ANCHOR = /(?:^|[\s[{,:])&[^\s,[\]{}]/m;
const HAS_ALIAS = /[\s[{,:]\*[^\s*]/;
const HAS_ODD_KEY = /^[ \t\-?]*\?(?:\s|$)|[[{,]\s*\?\s|[\]}]\s*:/m;

/** What the reader accepts and kubectl's refuses: a value that contains itself, and a key that is no text. */
function oddNode(document: Document.Parsed, text: string): { readonly at: number; readonly message: string } | undefined {
  if (!HAS_ODD_KEY.test(text) && !(HAS_ANCHOR.test(text) && HAS_ALIAS.test(text))) return undefined;
  let found: { at: number; message: string } | undefined;
  visit(document, {
    Alias(_key, alias, path) {
      const target = alias.resolve(document);
      if (!target || !path.includes(target)) return undefined;
      found = { at: alias.range?.[0] ?? 0, message: `the value of the anchor "${alias.source}" contains itself` };
      return visit.BREAK;
    },
    Pair(_key, { key }) {
      const named = isAlias(key) ? key.resolve(document) : key;
      if (!isCollection(named)) return undefined;
      found = { at: (isNode(key) ? key.range?.[0] : undefined) ?? 0, message: 'a key is a list or a map; kubectl takes only text' };
      return visit.BREAK;
    },
  });
  return found;
}

/** Line breaks and invisible characters for which readers disagree unless they are escaped. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\ufeff\ufffe\uffff]/u;

/** kubectl's reader takes a tab where a line begins for wrong indentation. */
const LEADING_TAB = /^ *\t/m;

/** One YAML document that readers of YAML 1.1 and of 1.2 read back to the same value. */
export function writeYaml(value: unknown): string {
  const document = new Document(value, {
    version: '1.1',
    customTags: (tags) => [...tags.filter((tag) => typeof tag === 'string' || !tag.tag.endsWith(':merge')), octalOfYaml12, numberLike],
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && (UNSAFE.test(node.value) || LEADING_TAB.test(node.value))) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString({ lineWidth: 0, directives: false });
  return text.replace(new RegExp(UNSAFE, 'gu'), (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same reading, with comments and styles, to be changed and written again. Throws YAMLParseError for what `readYaml` calls a problem. */
export function editableYaml(text: string): Document.Parsed {
  const document = parseDocument(text, { version: '1.1', customTags: kubectlTags, prettyErrors: false, uniqueKeys: false });
  if (document.errors[0]) throw document.errors[0];
  return document;
}

/** Longer texts in quotes are nobody's. */
const MAX_LINES = 100;

const OPENING = /^( *(?:- +)*)(?:[^\s'"#][^'"]*|'[^']*'|"[^"]*")?:[ \t]+(?=['"])/;

/**
 * The whole text with later lines of a quoted text pushed to the right, and where its quote opens: only kubectl accepts them at the key's
 * column. Undefined if no such text spans `brokenAt`.
 */
function indentQuotedLines(text: string, brokenAt: number) {
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

/** Offsets of the nearest line that begins a quoted text and of its quote: the lines between may be its well indented continuation. */
function openingBefore(text: string, brokenAt: number) {
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
