import type { IncomingMessage } from 'node:http';
import { plainBody } from './body.ts';

const [QUOTE, BACKSLASH, COMMA, OBJECT, OBJECT_END, ARRAY, ARRAY_END] = [0x22, 0x5c, 0x2c, 0x7b, 0x7d, 0x5b, 0x5d];

/** Depth inside the items of a list: in the list's object, in its array. */
const ITEMS = 2;

/**
 * Cuts a list's JSON into its items as it arrives, so that a page of hundreds of whole objects is never in memory at once.
 * An item is an object in an array of the outermost object: of a list there is one, `items`. What is around them is kept as text.
 */
class ItemCutter {
  readonly #item: (text: string) => void;
  readonly #around: Buffer[] = [];
  #pieces: Buffer[] = [];
  #depth = 0;
  /** In the array of the outermost object. */
  #listing = false;
  #quoted = false;
  #escaped = false;

  constructor(item: (text: string) => void) {
    this.#item = item;
  }

  /** The list without its items; JSON if the whole was. */
  around(): string {
    return Buffer.concat(this.#around).toString('utf8');
  }

  feed(chunk: Buffer): void {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (this.#quoted) this.#inString(byte);
      else if (byte === QUOTE) this.#quoted = true;
      else start = this.#mark(byte, chunk, start, at);
    }
    // A copy: the rest of the chunk may go.
    if (start < chunk.length) (this.#inItem() ? this.#pieces : this.#around).push(Buffer.from(chunk.subarray(start)));
  }

  /** Where the next text to keep begins. */
  #mark(byte: number, chunk: Buffer, start: number, at: number): number {
    switch (byte) {
      case OBJECT:
      case ARRAY: {
        const next = this.#between() ? this.#leaveAround(chunk, start, at) : start;
        this.#depth += 1;
        if (this.#depth === ITEMS) this.#listing = byte === ARRAY;
        return next;
      }
      case OBJECT_END:
      case ARRAY_END:
        this.#depth -= 1;
        return this.#between() ? this.#end(chunk, start, at + 1) : start;
      case COMMA:
        return this.#between() ? this.#leaveAround(chunk, start, at) + 1 : start;
      default:
        return start;
    }
  }

  #between(): boolean {
    return this.#listing && this.#depth === ITEMS;
  }

  #inItem(): boolean {
    return this.#listing && this.#depth > ITEMS;
  }

  #inString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#quoted = false;
  }

  #leaveAround(chunk: Buffer, start: number, at: number): number {
    this.#around.push(Buffer.from(chunk.subarray(start, at)));
    return at;
  }

  #end(chunk: Buffer, start: number, at: number): number {
    const last = chunk.subarray(start, at);
    this.#item((this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last])).toString('utf8'));
    this.#pieces = [];
    return at;
  }
}

/** Reads a list's body: each item to `item`; resolves with the list without them. Throws SyntaxError if it is no JSON. */
export async function readItems<List, Item>(message: IncomingMessage, item: (item: Item) => void): Promise<List> {
  const cutter = new ItemCutter((text) => item(JSON.parse(text) as Item));
  for await (const chunk of plainBody(message)) cutter.feed(chunk);
  return JSON.parse(cutter.around()) as List;
}
