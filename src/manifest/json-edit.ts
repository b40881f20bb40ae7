import { isRecord, sameValue } from '../kernel/json.ts';
import { type JsonNode, jsonText, readJson } from './json-text.ts';
import { itemsOf } from './list-items.ts';

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
