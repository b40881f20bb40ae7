import { maskNamed } from './hidden-names.ts';
import { isSecretName, isSecretPath } from './secret-names.ts';

/** What stands in plans, reports and records in place of a Secret's value. */
export const HIDDEN = '(hidden)';

/** What stands in place of a long text, which may be a Secret's. */
export function sizeOf(text: Pick<string, 'length'>): string {
  return `${text.length} characters`;
}

/**
 * The one masker of texts: whatever this program prints, stores or sends goes through it. It hides credentials by their form (in
 * addresses, of HTTP, JSON web tokens, private keys) and by the name before them. Its time grows with the length of the text, and what was
 * JSON is JSON afterwards.
 */
export function mask(text: string): string {
  return text.length < SHORTEST ? text : maskNamed(maskForms(text), HIDDEN);
}

/** No shorter text holds a name and a credential. */
const SHORTEST = 6;

/**
 * The one masker of data: texts as `mask` does it, values by the name of their field or variable, and sides of a change by its path.
 * Texts that are JSON are read.
 */
export function maskValue<T>(value: T): T {
  return masked(value) as T;
}

/** What a field may show of its value, by its path. */
export function maskAt<T>(path: string, value: T): T {
  return isSecretPath(path) ? (hiddenTexts(value) as T) : maskValue(value);
}

/** `https://user:password@host`, also a user alone (may be a token) and an @ in the password. The scheme's length is limited. */
const IN_ADDRESS = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/"'<>\\]+@/gi;

/** With a name before it, or with what no word has. */
const SCHEMES = [
  /(\bauthorization["']?[ \t]{0,8}[:=][ \t]{0,8}["']?[a-z]{1,16} {1,8})[^\s"',\\]+/gi,
  /(\b(?:Bearer|Basic) {1,8})[A-Za-z0-9._~+/-]{8,}=*/g,
  /(\b(?:bearer|basic) {1,8})(?=[a-z._~+/-]{0,200}[A-Z0-9=])[A-Za-z0-9._~+/-]{8,}=*/g,
];

/** Of what JSON web tokens are made, and the dots between their parts. */
const TOKEN_RUN = /[A-Za-z0-9_.-]{16,}/g;
const TOKEN_HEAD = /(?<![A-Za-z0-9_])eyJ[A-Za-z0-9_-]{5,}/;
const SHORTEST_PART = 5;

/** Base64 of a private key in PEM begins so, in any of three places. */
const ENCODED_KEY = /LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,20}(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)[A-Za-z0-9+/]*={0,2}/g;
const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----)[^"])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g;
const KEY_END = /-----END [A-Z ]{0,40}PRIVATE KEY-----/;

function maskForms(text: string): string {
  // Looked for only where one can be: the pattern tries thirty places for each letter.
  const plain = text.includes('://') ? text.replace(IN_ADDRESS, `$1${HIDDEN}@`) : text;
  const schemes = SCHEMES.reduce((kept, pattern) => kept.replace(pattern, `$1${HIDDEN}`), plain);
  const tokens = schemes.replace(TOKEN_RUN, withoutTokens);
  return withoutKeyEnds(tokens.replace(PRIVATE_KEY, HIDDEN).replace(ENCODED_KEY, HIDDEN));
}

/** Head, payload and signature, part by part: one pattern for all three would begin again at each `eyJ`. */
function withoutTokens(run: string): string {
  if (!run.includes('eyJ')) return run;
  const parts = run.split('.');
  const kept: string[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? '';
    const head = at + 2 < parts.length && (parts[at + 1] ?? '').length >= SHORTEST_PART ? part.search(TOKEN_HEAD) : -1;
    kept.push(head < 0 ? part : part.slice(0, head) + HIDDEN);
    if (head >= 0) at += 2;
  }
  return kept.join('.');
}

/** The end of a private key whose beginning is not there: a log that was cut. */
function withoutKeyEnds(text: string): string {
  const parts = text.split(KEY_END);
  return parts.length === 1 ? text : parts.map((part, index) => (index < parts.length - 1 ? withoutLastLines(part) : part)).join(HIDDEN);
}

/** Without the lines of base64 at the end. */
function withoutLastLines(text: string): string {
  const lines = text.split('\n');
  const last = lines.findLastIndex((line) => !/^[A-Za-z0-9+/=\s]*$/.test(line));
  return lines.slice(0, last + 1).join('\n') + (last >= 0 ? '\n' : '');
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map((item, index) => (isBehindFlag(value[index - 1], item) ? hiddenTexts(item) : masked(item)));
  if (typeof value !== 'object' || value === null) return value;
  if (isSaid(value)) return value.masked(maskText);
  const fields = value as Readonly<Record<string, unknown>>;
  const path = [fields.path, fields.field].find((one) => typeof one === 'string');
  const isChange = path !== undefined && isSecretPath(path);
  const isVariable = typeof fields.name === 'string' && isSecretName(fields.name);
  const hides = (name: string) => isSecretName(name) || (isVariable && name === 'value') || (isChange && SIDES.has(name));
  return Object.fromEntries(Object.entries(fields).map(([name, held]) => [name, hides(name) ? hiddenTexts(held) : masked(held)]));
}

/** What is made of parts hides them itself: a text, a step, a command. */
export interface Maskable {
  masked(hide: (text: string) => string): unknown;
}

const isSaid = (value: object): value is Maskable => 'masked' in value && typeof value.masked === 'function';

/** `--token`, and the item behind it. */
function isBehindFlag(flag: unknown, item: unknown): boolean {
  if (typeof flag !== 'string' || typeof item !== 'string' || item.startsWith('-')) return false;
  return /^--?[\w.-]{1,80}$/.test(flag) && (isSecretName(flag) || SECRET_FLAG.test(flag));
}

const SECRET_FLAG = /^--?secrets?$/i;

/** How the two or three states of a field are called. */
const SIDES = new Set(['before', 'after', 'base', 'mine', 'theirs', 'live', 'target', 'result', 'value', 'was', 'is']);

/** A text, and each of a list of texts. A map below such a name says how its fields are called by itself. */
function hiddenTexts(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : HIDDEN;
  if (Array.isArray(value)) return value.map(hiddenTexts);
  return masked(value);
}

/** Longer ones are masked as they stand. */
const LONGEST_JSON = 1024 * 1024;

/** A text; JSON in it by its structure, where its names are further from their values than on one line. */
function maskText(text: string): string {
  if (!/^\s*[[{]/.test(text) || text.length > LONGEST_JSON) return mask(text);
  try {
    const read: unknown = JSON.parse(text);
    const [before, after] = [JSON.stringify(read), JSON.stringify(masked(read))];
    return before === after ? text : after;
  } catch {
    return mask(text);
  }
}
