import { numbersFrom } from './seed.ts';

/** What others may write into an object, a log or a chart so that reading it takes long: one unit, repeated. */
export const UNITS: readonly string[] = [
  ...['-eyJ', 'eyJaaaaaaa.', 'password=', 'password="', '"password":"', '\\"token\\":\\"', 'passwords: [', 'passwords: [] ', "token '"],
  ...['--token ', '- name: PASSWORD\n  value: ', 'Bearer ', 'basic a', 'authorization: x ', 'https://', 'a://b@', ' → ', 'A', '\\'],
  ...['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----\n', 'LS0tLS1CRUdJTi', '"--token",', '--token\n- ', '"--token", "'],
  ...['a && ', '(', '!', "has(a) || a == 'x' && ", "a in {'x',", '{{', '{"a":', '[', '1.', 'a/', ':', '@', '\n', '\u202e', '\u001b[0m'],
];

export const YAMLS: Readonly<Record<string, (length: number) => string>> = {
  'keys of one map': (length) => Array.from({ length: length / 10 }, (_, at) => `k${at}: !!str ${at}`).join('\n'),
  'one key again and again': (length) => 'a: 1\n'.repeat(length / 5),
  'a list in one line': (length) => `[${'!!str a, '.repeat(length / 9)}]`,
  anchors: (length) => Array.from({ length: length / 10 }, (_, at) => `- &a${at} ${at}`).join('\n'),
  aliases: (length) => `- &a x\n${'- *a\n'.repeat(length / 5)}`,
  'merge keys': (length) => `- &a {x: 1}\n${'- <<: *a\n'.repeat(length / 10)}`,
  'brackets that open': (length) => '['.repeat(length),
  'dashes that open': (length) => '- '.repeat(length / 2),
  'quotes that stay open': (length) => `a: "${'word\nb: "x\n'.repeat(length / 12)}`,
  'line breaks': (length) => `${'\n'.repeat(length)}a: b`,
  documents: (length) => '---\nkind: A\napiVersion: v1\nmetadata: {name: a}\n'.repeat(length / 48),
  'lists in lists': (length) => {
    const depth = length / 24;
    return `${'{kind: List, items: ['.repeat(depth)}{kind: A, apiVersion: v1, metadata: {name: a}}${']}'.repeat(depth)}`;
  },
  'a list of objects': (length) => `kind: List\nitems:\n${'- {kind: A, apiVersion: v1, metadata: {name: a}}\n'.repeat(length / 49)}`,
};

const MIXES: Readonly<Record<string, readonly string[]>> = {
  nesting: ['[', ']', '{', '}', '{"a":', '[[[', ']]', '- ', '  ', '\n', '\n  - ', 'a: '],
  'long keys': ['k'.repeat(90), '"', ': ', ':\n  ', '\n', '? ', 'a'.repeat(300), ' '],
  'many documents': ['---\n', '--- ', '...\n', 'kind: A\n', '# x\n', '%YAML 1.1\n', '\n', 'a: |+\n  x\n'],
  escapes: ['\\', '\\"', '"', "'", "''", '\\u0041', '\\n', '\\x', '\n', 'a: "'],
  'parts of tokens': ['eyJ', 'eyJhbGciOi', '.', '-', '_', 'aaaaa', '=', ' ', 'Bearer ', 'token: ', '"password": "'],
  'anchors and tags': ['&a ', '*a ', '!!str ', '!<x> ', '<<: ', '- ', '\n', ', ', 'b: '],
};

/** Pieces in an order that follows from the length alone. */
function mixed(pieces: readonly string[], length: number): string {
  const random = numbersFrom(length);
  let text = '';
  while (text.length < length) text += pieces[Math.floor(random() * pieces.length)];
  return text.slice(0, length);
}

/** The same as a function of the length, and mixtures. */
export const FOREIGN_TEXTS: Readonly<Record<string, (length: number) => string>> = {
  ...Object.fromEntries(UNITS.map((unit) => [JSON.stringify(unit), (length: number) => unit.repeat(length / unit.length)])),
  ...YAMLS,
  ...Object.fromEntries(Object.entries(MIXES).map(([name, pieces]) => [`a mixture: ${name}`, (length: number) => mixed(pieces, length)])),
};
