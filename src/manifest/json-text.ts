import { isMap, isScalar, isSeq, type ParsedNode, parseDocument } from 'yaml';
import { isRecord, parsedJson, sameValue } from '../kernel/json.ts';
import { itemsOf } from './alike.ts';

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A member of an object or an item of a list with its place in the text; the member begins with its name. */
interface Part {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly node: ParsedNode;
  readonly value: unknown;
}

/** The same JSON text with another value: what does not change keeps its place and its spelling. Throws Error if `text` is no JSON. */
export function editJson(text: string, value: unknown): string {
  const before = readJson(text);
  // A reader of YAML reads JSON and its placeholders as well, and tells where each value stands.
  const root = before && parseDocument(text, { uniqueKeys: false }).contents;
  if (!root) throw new Error('not a JSON text');
  // From the end, so that places stay valid; at the same place, a removal comes before an addition.
  const splices = [...edits(text, root, before.value, value, '')].toSorted((a, b) => a.start - b.start || a.end - b.end).toReversed();
  const edited = splices.reduce((done, { start, end, text: put }) => done.slice(0, start) + put + done.slice(end), text);
  // A text that cannot be edited in place is better written again than wrong.
  return sameValue(readJson(edited)?.value, value) ? edited : jsonText(value, '');
}

function* edits(text: string, node: ParsedNode, before: unknown, after: unknown, name: string): Generator<Splice> {
  if (sameValue(before, after)) return;
  const [parts, wanted] = [partsOf(node, before, name), membersOf(after, name)];
  const stay = parts?.filter(({ key }) => wanted?.has(key)) ?? [];
  const inOrder = [...(wanted?.keys() ?? [])]
    .filter((key) => stay.some((one) => one.key === key))
    .every((key, at) => stay[at]?.key === key);
  const sameKind = Array.isArray(before) === Array.isArray(after);
  if (!parts || !wanted || !sameKind || stay.length === 0 || (Array.isArray(before) && !inOrder)) {
    const [start, end] = node.range;
    return yield { start, end, text: jsonText(after, indentAt(text, start)) };
  }
  for (const part of stay) yield* edits(text, part.node, part.value, wanted.get(part.key), part.key);
  for (const [index, { key }] of parts.entries()) if (!wanted.has(key)) yield removal(parts, parts.indexOf(stay[0] as Part), index);
  let last = stay[0] as Part;
  for (const [key, inner] of wanted) {
    const known = parts.find((one) => one.key === key);
    const label = Array.isArray(after) ? '' : `${JSON.stringify(key)}: `;
    const added = `,${gapBefore(text, last)}${label}${jsonText(inner, indentAt(text, last.start))}`;
    if (!known) yield { start: last.end, end: last.end, text: added };
    last = known ?? last;
  }
}

/** Undefined for a single value, and for a list without keys. */
function partsOf(node: ParsedNode, value: unknown, name: string): readonly Part[] | undefined {
  const members = membersOf(value, name);
  const names = [...(members?.keys() ?? [])];
  const nodes = isSeq(node) ? node.items.map((item) => ({ key: item, value: item })) : isMap(node) ? node.items : [];
  return (
    members &&
    nodes.flatMap(({ key: begin, value: inner }, index) => {
      // Numbers as names are in another order in the value.
      const key = (isMap(node) && isScalar(begin) ? String(begin.value) : names[index]) ?? '';
      return inner ? [{ key, value: members.get(key), start: begin.range[0], end: inner.range[1], node: inner }] : [];
    })
  );
}

function membersOf(value: unknown, name: string): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return itemsOf(name, value);
  return isRecord(value) ? new Map(Object.entries(value)) : undefined;
}

/** With the comma before it or, before the first that stays, the comma after it. */
function removal(parts: readonly Part[], first: number, index: number): Splice {
  const { start = 0, end = 0 } = parts[index] ?? {};
  if (index < first) return { start, end: parts[index + 1]?.start ?? end, text: '' };
  return { start: parts[index - 1]?.end ?? start, end, text: '' };
}

/** White space by which a member is set off from what stands before it. */
function gapBefore(text: string, { start }: Part): string {
  const before = text.slice(0, start);
  return before.slice(before.trimEnd().length) || ' ';
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

/** Marks a placeholder that stands in JSON without quotes, such as `__CNI_MTU__`; no text of a manifest begins with it. */
const BARE = '\uE000';

/** A text in quotes, with the colon behind the name of a member, or a bare placeholder. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|(__[A-Za-z0-9_]+__)(?!\s*:)/g;

/** Reads a JSON object or list in which bare placeholders may stand; undefined for any other text, and where a key is there twice. */
export function readJson(text: unknown): { readonly value: unknown } | undefined {
  if (typeof text !== 'string' || !/^\s*[{[]/.test(text)) return undefined;
  const value = parsedJson(text.replace(TOKEN, (token, _, bare?: string) => (bare ? JSON.stringify(BARE + bare) : token)));
  const names = [...text.matchAll(TOKEN)].filter(([, colon]) => colon !== undefined);
  return value !== undefined && namesIn(value) === names.length ? { value } : undefined;
}

function namesIn(value: unknown): number {
  const within = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return within.reduce((sum: number, inner) => sum + namesIn(inner), Array.isArray(value) ? 0 : within.length);
}

/** A value as JSON text, placeholders bare again; lines after the first begin with `indent`. */
function jsonText(value: unknown, indent: string): string {
  const bare = new RegExp(`"${BARE}(__[A-Za-z0-9_]+__)"`, 'gu');
  const text = JSON.stringify(value, undefined, 2).replace(bare, '$1');
  return text.replaceAll('\n', `\n${indent}`);
}

/** As the user writes it: the mark of a placeholder is ours alone. */
export function withoutMarks(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value).replaceAll(BARE, ''));
}
