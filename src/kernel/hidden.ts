/** What stands in plans, reports and records in place of a Secret's value. */
export const HIDDEN = '(hidden)';

/** What stands in place of a long text, which may be a Secret's. */
export function sizeOf(text: string): string {
  return `${text.length} characters`;
}

/**
 * `https://user:password@host`, also a user alone (may be a token) and an @ in the password. The scheme's length is limited: otherwise a
 * long line without an address takes minutes.
 */
const IN_ADDRESS = [/([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/"'<>\\]+@/gi, `$1${HIDDEN}@`] as const;

const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  IN_ADDRESS,
  [/\b(Bearer|Basic)( +)[A-Za-z0-9._~+/-]{8,}=*/g, `$1$2${HIDDEN}`],
  // A JSON web token, as service accounts have.
  [/\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/g, HIDDEN],
  // A private key in PEM, with its end or without.
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----)[^"])*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, HIDDEN],
];

/** A text that leaves this machine, without credentials that a program, an address or the user put into it. Leaves JSON valid. */
export function withoutCredentials(text: string): string {
  return CREDENTIALS.reduce((kept, [pattern, instead]) => kept.replace(pattern, instead), text);
}

/** A text for the user at the terminal, without the credentials in addresses: it is copied into tickets and logs. Leaves JSON valid. */
export function withoutAddressCredentials(text: string): string {
  return text.replace(...IN_ADDRESS);
}

/** What ends with such a word holds a credential: `ETCD_PASSWORD`, `apiKey`. */
const WORD = '(?:pass(?:word|wd|phrase)?|token|secret|credentials?|api[_-]?key|access[_-]?key|private[_-]?key)';
/** A field `secret` alone has the name of a Secret. */
const NAMED = new RegExp(`^(?!secret$).*${WORD}$`, 'i');

/** `password=…`, `"secret": "…"`. */
const ASSIGNED = new RegExp(`(${WORD})(["']?[ \\t]*[=:][ \\t]*)("[^"\\n]+"|'[^'\\n]+'|[^\\s"',;&{}[\\]]+)`, 'gi');

/** `--token …`. */
const ARGUMENT = new RegExp(`(${WORD})(?<=--[\\w-]{2,80})([ \\t]+)([^\\s-]\\S*)`, 'gi');

const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/;

/** The end of a private key whose beginning is not there: a log that was cut. */
function withoutKeyEnds(text: string): string {
  const parts = text.split(KEY_END);
  return parts.map((part, index) => (index < parts.length - 1 ? withoutLastLines(part) : part)).join(HIDDEN);
}

/** Without the lines of base64 at the end. */
function withoutLastLines(text: string): string {
  const lines = text.split('\n');
  const last = lines.findLastIndex((line) => !/^[A-Za-z0-9+/=\s]*$/.test(line));
  return lines.slice(0, last + 1).join('\n') + (last >= 0 ? '\n' : '');
}

/** A text of anybody's without credentials, those included that only the word before them tells. Not for JSON: mask what is in it first. */
function withoutNamedCredentials(text: string): string {
  return withoutKeyEnds(withoutCredentials(text)).replace(ASSIGNED, `$1$2${HIDDEN}`).replace(ARGUMENT, `$1$2${HIDDEN}`);
}

/** All texts in a document without such credentials, and for values whose name says that they are credentials: fields, and variables of containers. */
export function withoutHiddenValues<T>(value: T): T {
  return masked(value) as T;
}

function masked(value: unknown): unknown {
  if (typeof value === 'string') return withoutNamedCredentials(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  const isVariable = 'name' in value && typeof value.name === 'string' && NAMED.test(value.name);
  const hides = (name: string, held: unknown) => typeof held === 'string' && (NAMED.test(name) || (isVariable && name === 'value'));
  return Object.fromEntries(fields.map(([name, held]) => [name, hides(name, held) ? HIDDEN : masked(held)]));
}
