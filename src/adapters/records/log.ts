import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kernel/fault.ts';
import { isRecord } from '../../kernel/json.ts';
import type { KeptItem, KeptLine, KeptOutcome } from '../../kernel/run-record.ts';
import { gunzip, gzip } from '../compression.ts';
import type { Content, Entry } from '../state/entry.ts';

/** Text of the part that is written to: every append writes all of it. Bytes. */
export const OPEN_BYTES = 100_000;

/** What is longer does not go into the log. Bytes; a part holds one of them beside what is in it. */
export const LINE_BYTES = 100_000;

/** Far more than a part of the log has once it is unpacked. */
const MOST_PART_BYTES = 4 * 1024 * 1024;

/** What a part of the log holds: text while it is open, gzip once it is full. */
type LogPart = { readonly text: string } | { readonly gz: Uint8Array };

/** Where the parts are, by their number from 1. */
interface LogPlace {
  /** Number of the last part; 0 if there is none. */
  last(): Promise<number>;
  /** Reads, changes and writes a part, once more if somebody wrote in between; `change` resolves to undefined for a part that is not changed. */
  update(number: number, change: (part: LogPart | undefined) => Promise<LogPart | undefined>): Promise<void>;
}

/**
 * Many small items in few objects, as lines of JSON added to the last part. A full part is compressed in place, then the next begins: both
 * are single writes, so a kill between them loses no line.
 */
export function keptLog(place: LogPlace): { append(lines: readonly KeptLine[]): Promise<void> } {
  let at: number | undefined;
  return {
    async append(lines) {
      const more = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      at ??= Math.max(1, await place.last());
      for (let written = false; !written; at += written ? 0 : 1) {
        await place.update(at, async (part) => {
          written = part === undefined || ('text' in part && Buffer.byteLength(part.text) + Buffer.byteLength(more) <= OPEN_BYTES);
          if (part === undefined) return { text: more };
          if ('gz' in part) return undefined;
          return written ? { text: part.text + more } : { gz: await gzip(Buffer.from(part.text)) };
        });
      }
    },
  };
}

/** All lines, from the parts in order. Throws Fault('failed') if one is missing or cannot be read. */
export async function readLog(parts: ReadonlyMap<number, LogPart>, nameOf: (number: number) => string): Promise<readonly KeptLine[]> {
  const lines: KeptLine[] = [];
  for (let number = 1; number <= Math.max(0, ...parts.keys()); number += 1) {
    const part = parts.get(number);
    if (!part) throw damaged(nameOf(number), 'it is missing');
    try {
      const text = 'text' in part ? part.text : (await gunzip(part.gz, MOST_PART_BYTES)).toString('utf8');
      for (const line of text.split('\n')) if (line !== '') lines.push(lineOf(JSON.parse(line)));
    } catch {
      throw damaged(nameOf(number), 'it cannot be read');
    }
  }
  return lines;
}

function lineOf(value: unknown): KeptLine {
  const isLine = isRecord(value) && typeof value.id === 'string' && (value.outcome === undefined || isOutcome(value.outcome));
  if (!isLine) throw new Error('a line of it is none of this program');
  return value as unknown as KeptLine;
}

function isOutcome(value: unknown): boolean {
  const { done, except = [] } = isRecord(value) ? value : {};
  return typeof done === 'boolean' && Array.isArray(except) && except.every((one) => typeof one === 'string');
}

function damaged(name: string, why: string): Fault {
  return new Fault('failed', `what was kept before removals is incomplete: ${name}: ${why}`, [`restore ${name} from a backup`]);
}

/**
 * Items with this part in their id, each with its outcome, sorted by id. Two runs may use one id if one had an older record: both contents
 * stay, without an outcome, as nobody knows whose it was.
 */
export function joined(items: readonly KeptItem[], lines: readonly KeptLine[], part: string): readonly KeptItem[] {
  const byId = new Map<string, { readonly contents: unknown[]; outcome?: KeptOutcome }>();
  for (const line of [...items, ...lines].filter(({ id }) => id.includes(part))) {
    const kept = byId.get(line.id) ?? { contents: [] };
    byId.set(line.id, kept);
    if (line.outcome) kept.outcome = line.outcome;
    if ('content' in line && !kept.contents.some((one) => isDeepStrictEqual(one, line.content))) kept.contents.push(line.content);
  }
  const whole = [...byId].flatMap(([id, { contents, outcome }]) => {
    const told = outcome && contents.length === 1 ? { outcome } : {};
    return contents.map((content, index): KeptItem => ({ id: index === 0 ? id : besideId(id, index + 1), content, ...told }));
  });
  return whole.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Comes after the id, with its number. */
function besideId(id: string, nth: number): string {
  return id.replace(/(?=#\d+$)|$/, `+${nth}`);
}

const TEXT_KEY = 'kept.jsonl';
const GZ_KEY = 'kept.jsonl.gz';

/** Name of the Secret with a part of the log. */
export function logName(number: number): string {
  return `netsvc-upgrade-run-log-${number}`;
}

/** Number of a part of the log; 0 for what is none. */
export function logNumber(name: string): number {
  return Number(/^netsvc-upgrade-run-log-(\d+)$/.exec(name)?.[1] ?? 0);
}

/** Every part, by its number. */
export async function logParts(
  names: readonly string[],
  read: (name: string) => Promise<Entry | undefined>,
): Promise<ReadonlyMap<number, LogPart>> {
  const parts = new Map<number, LogPart>();
  for (const number of names.map(logNumber).filter((one) => one > 0)) {
    const entry = await read(logName(number));
    // What holds nothing is no gzip data: reading it says so.
    if (entry) parts.set(number, partOf(entry.content) ?? { gz: new Uint8Array() });
  }
  return parts;
}

/** What a Secret holds of the log; undefined if it is new. */
export function partOf(content: Content | undefined): LogPart | undefined {
  const { [GZ_KEY]: gz, [TEXT_KEY]: text } = content ?? {};
  if (gz !== undefined) return { gz: Buffer.from(gz, 'base64') };
  return text === undefined ? undefined : { text: Buffer.from(text, 'base64').toString('utf8') };
}

export function contentOfPart(part: LogPart): Content {
  if ('text' in part) return { [TEXT_KEY]: Buffer.from(part.text).toString('base64') };
  return { [GZ_KEY]: Buffer.from(part.gz).toString('base64') };
}
