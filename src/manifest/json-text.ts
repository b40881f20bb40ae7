import { isRecord, sameValue } from '../kernel/json.ts';
import { itemsOf } from './alike.ts';

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Part {
  readonly start: number;
  readonly node: JsonNode;
}

/** The same JSON text with another value: what does not change keeps its place and its spelling. Throws Error if `text` is no JSON. */
export function editJson(text: string, value: unknown): string {
  const root = readJson(text);
  if (!root) throw new Error('not a JSON text');
  // From the end, so that places stay valid; at the same place, a removal comes before an addition.
  const splices = [...edits(text, root, value, '')].toSorted((a, b) => a.start - b.start || a.end - b.end).toReversed();
  const edited = splices.reduce((done, { start, end, text: put }) => done.slice(0, start) + put + done.slice(end), text);
  // A text that cannot be edited in place is better written again than wrong.
  return sameValue(readJson(edited)?.value, value) ? edited : jsonText(value, '');
}

function* edits(text: string, node: JsonNode, value: unknown, name: string): Generator<Splice> {
  if (sameValue(node.value, value)) return;
  if (node.members && isRecord(value)) {
    const there = new Map(node.members.map((member) => [member.key, member]));
    const put = Object.entries(value).map(([key, inner]) => ({ key, inner, label: `${JSON.stringify(key)}: ` }));
    yield* splice(text, node, there, put);
  } else if (node.items && Array.isArray(value)) {
    const [was, is] = [
      itemsOf(
        name,
        node.items.map((item) => item.value),
      ),
      itemsOf(name, value),
    ];
    if (!was || !is) return yield whole(text, node, value);
    const items = node.items;
    const there = new Map([...was.keys()].flatMap((key, index) => (items[index] ? [[key, partOf(items[index])]] : [])));
    yield* splice(
      text,
      node,
      there,
      [...is].map(([key, inner]) => ({ key, inner, label: '' })),
    );
  } else {
    yield whole(text, node, value);
  }
}

function partOf(node: JsonNode): Part {
  return { start: node.start, node };
}

interface Wanted {
  readonly key: string;
  readonly inner: unknown;
  readonly label: string;
}

function* splice(text: string, node: JsonNode, there: ReadonlyMap<string, Part>, put: readonly Wanted[]): Generator<Splice> {
  const parts = [...there];
  const wanted = new Map(put.map((one) => [one.key, one]));
  const stay = parts.filter(([key]) => wanted.has(key));
  const inOrder = put.filter(({ key }) => there.has(key)).every(({ key }, index) => stay[index]?.[0] === key);
  if (stay.length === 0 || (node.items && !inOrder))
    return yield whole(
      text,
      node,
      Array.isArray(node.value) ? put.map(({ inner }) => inner) : Object.fromEntries(put.map(({ key, inner }) => [key, inner])),
    );
  for (const [key, part] of stay) yield* edits(text, part.node, wanted.get(key)?.inner, key);
  for (const [index, [key, part]] of parts.entries()) {
    if (!wanted.has(key)) yield removal(parts, stay, index, part);
  }
  let last = stay[0]?.[1];
  for (const { key, inner, label } of put) {
    const known = there.get(key);
    if (!known && last)
      yield {
        start: last.node.end,
        end: last.node.end,
        text: `,${gapBefore(text, last)}${label}${jsonText(inner, indentAt(text, last.start))}`,
      };
    last = known ?? last;
  }
}

/** With the comma before it or, before the first that stays, the comma after it. */
function removal(
  parts: readonly (readonly [string, Part])[],
  stay: readonly (readonly [string, Part])[],
  index: number,
  part: Part,
): Splice {
  const first = parts.findIndex(([key]) => key === stay[0]?.[0]);
  if (index < first) return { start: part.start, end: parts[index + 1]?.[1].start ?? part.node.end, text: '' };
  return { start: parts[index - 1]?.[1].node.end ?? part.start, end: part.node.end, text: '' };
}

/** White space by which a member is set off from what stands before it. */
function gapBefore(text: string, { start }: Part): string {
  const gap = /\s*$/.exec(text.slice(0, start))?.[0] ?? '';
  return gap === '' ? ' ' : gap;
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? '';
}

function whole(text: string, { start, end }: JsonNode, value: unknown): Splice {
  return { start, end, text: jsonText(value, indentAt(text, start)) };
}

/** Marks a placeholder that stands in JSON without quotes, such as `__CNI_MTU__`; no text of a manifest begins with it. */
const BARE = '\uE000';

/** A JSON value with its place in the text; members and items are in the text's order. */
interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  readonly members?: readonly JsonMember[];
  readonly items?: readonly JsonNode[];
}

interface JsonMember {
  readonly key: string;
  readonly start: number;
  readonly node: JsonNode;
}

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\\n]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null)|(__[A-Za-z0-9_]+__))/uy;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonNode {
    const node = this.value();
    if (this.#text.slice(this.#at).trim() !== '') throw new SyntaxError('more after the end');
    return node;
  }

  value(): JsonNode {
    const { token, start, end } = this.next();
    if (token === '{') return this.object(start);
    if (token === '[') return this.array(start);
    if (/^[}\],:]/.test(token)) throw new SyntaxError(`unexpected ${token}`);
    return { start, end, value: token.startsWith('__') ? BARE + token : JSON.parse(token) };
  }

  object(start: number): JsonNode {
    const members: JsonMember[] = [];
    for (let token = this.peek() === '}' ? this.next().token : ','; token !== '}'; ) {
      const key = this.next();
      if (token !== ',' || !key.token.startsWith('"') || this.next().token !== ':') throw new SyntaxError('not an object');
      members.push({ key: String(JSON.parse(key.token)), start: key.start, node: this.value() });
      token = this.next().token;
      if (token !== ',' && token !== '}') throw new SyntaxError('not an object');
    }
    if (new Set(members.map(({ key }) => key)).size < members.length) throw new SyntaxError('a key is there twice');
    return { start, end: this.#at, value: Object.fromEntries(members.map(({ key, node }) => [key, node.value])), members };
  }

  array(start: number): JsonNode {
    const items: JsonNode[] = [];
    for (let token = this.peek() === ']' ? this.next().token : ','; token !== ']'; ) {
      items.push(this.value());
      token = this.next().token;
      if (token !== ',' && token !== ']') throw new SyntaxError('not a list');
    }
    return { start, end: this.#at, value: items.map(({ value }) => value), items };
  }

  peek(): string {
    const before = this.#at;
    const { token } = this.next();
    this.#at = before;
    return token;
  }

  next(): { readonly token: string; readonly start: number; readonly end: number } {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    const token = match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4];
    if (token === undefined) throw new SyntaxError(`unexpected sign at ${this.#at}`);
    this.#at = TOKEN.lastIndex;
    return { token, start: this.#at - token.length, end: this.#at };
  }
}

/** Reads a JSON object or list in which bare placeholders may stand; undefined for any other text. */
export function readJson(text: unknown): JsonNode | undefined {
  if (typeof text !== 'string' || !/^\s*[{[]/.test(text)) return undefined;
  try {
    return new Reader(text).document();
  } catch {
    return undefined;
  }
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
