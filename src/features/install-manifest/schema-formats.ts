import { isCidr, isIPv4, isIPv6 } from '../../kernel/ip-text.ts';

/** Milliseconds of a full date, so that 30 February is none. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

const TIME = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|[+-]\d{2}:\d{2})$/;

/** As `strfmt.IsDateTime` of kube-openapi. */
function isDateTime(text: string): boolean {
  const [date = '', rest = ''] = text.toLowerCase().split('t');
  const [, hour = '', minute = '', second = ''] = TIME.exec(rest) ?? [];
  return hour !== '' && isDate(date) && hour <= '23' && minute <= '59' && second <= '59';
}

/** The formats of strings that API servers enforce in CRDs (apiextensions-apiserver, formats.go), as they read them. */
const known: Readonly<Record<string, (text: string) => boolean>> = {
  cidr: (text) => isCidr(text, 'sloppy'),
  ipv4: (text) => isIPv4(text, 'sloppy'),
  ipv6: (text) => isIPv6(text, 'sloppy'),
  date: isDate,
  datetime: isDateTime,
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/.test(text),
  password: () => true,
};

/** Those that are enforced and not evaluated here. Any other format is ignored by API servers. */
const others: ReadonlySet<string> = new Set(
  ['bsonobjectid', 'uri', 'email', 'hostname', 'mac', 'uuid', 'uuid3', 'uuid4', 'uuid5', 'isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn']
    .concat(['hexcolor', 'rgbcolor', 'duration', 'k8s-short-name', 'k8s-long-name'])
    .map(normal),
);

/** True or false as the server would say, undefined if only the server can evaluate it. */
export function holdsFormat(format: string, text: string): boolean | undefined {
  const name = normal(format);
  if (others.has(name)) return undefined;
  return !Object.hasOwn(known, name) || known[name]?.(text) === true;
}

/** `date-time` is `datetime`, as go-openapi has it. */
function normal(format: string): string {
  return format.replaceAll('-', '');
}

/** Nested repetitions can take for ever on a long text that does not match, so they are not evaluated. */
const NESTED = /[+*]\)[+*]/;
const LONG = 24;
/** What Go reads otherwise than JavaScript, which takes some of it without a word. */
const GO_ONLY = /\[\[:|\\[AzQECpP]|\(\?P|\(\?[imsU-]*[:)]/;

/** True or false as the server would say, undefined if only the server can evaluate it. */
export function matchesPattern(value: string, pattern: string): boolean | undefined {
  if (NESTED.test(pattern) && value.length > LONG) return undefined;
  // The one flag in use, at the beginning.
  const insensitive = /^\^?\(\?i\)/.test(pattern);
  const plain = insensitive ? pattern.replace('(?i)', '') : pattern;
  if (GO_ONLY.test(plain.replaceAll('(?:', '('))) return undefined;
  try {
    return new RegExp(plain, insensitive ? 'i' : '').test(value);
  } catch {
    return undefined;
  }
}
