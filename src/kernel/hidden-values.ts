import { HIDDEN, withoutCredentials } from './hidden.ts';

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
export function withoutNamedCredentials(text: string): string {
  return withoutKeyEnds(withoutCredentials(text)).replace(ASSIGNED, `$1$2${HIDDEN}`).replace(ARGUMENT, `$1$2${HIDDEN}`);
}

/** The same for all texts in a document, and for values whose name says that they are credentials: fields, and variables of containers. */
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
