/** Marks a placeholder that stands in JSON without quotes, such as `__CNI_MTU__`; no text of a manifest begins with it. */
const BARE = '\uE000';

/** A JSON value with its place in the text; members and items are in the text's order. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly value: unknown;
  readonly members?: readonly JsonMember[];
  readonly items?: readonly JsonNode[];
}

export interface JsonMember {
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
export function jsonText(value: unknown, indent: string): string {
  const bare = new RegExp(`"${BARE}(__[A-Za-z0-9_]+__)"`, 'gu');
  const text = JSON.stringify(value, undefined, 2).replace(bare, '$1');
  return text.replaceAll('\n', `\n${indent}`);
}

/** As the user writes it: the mark of a placeholder is ours alone. */
export function withoutMarks(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value).replaceAll(BARE, ''));
}
