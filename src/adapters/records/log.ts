import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kernel/fault.ts';
import { areTexts, isRecord } from '../../kernel/json.ts';
import { type KeptItem, type KeptLine, type KeptOutcome, numberOf } from '../../kernel/run-record.ts';
import { gunzip, gzip } from '../compression.ts';
import type { Content, Entry } from '../state/entry.ts';

/** Text of the part that is written to: every append writes all of it. What is longer is compressed at once. Bytes. */
export const OPEN_BYTES = 100_000;

/** gzip data in one Secret, whose limit is 1 MiB; the record has room beside it. Bytes before base64. */
const PART_BYTES = 900_000;

/** Far more than any item of this program has once it is unpacked. */
const MOST_BYTES = 128 * 1024 * 1024;

/** What a part of the log holds: text while it is open, gzip once it is full; `slice` is `2of3` for what one part cannot hold. */
type LogPart = { readonly text: string } | { readonly gz: Uint8Array; readonly slice?: string };

/** Where the parts are, by their number from 1. */
interface LogPlace {
  /** Number of the last part; 0 if there is none. */
  last(): Promise<number>;
  /** Reads, changes and writes a part, once more if somebody wrote in between; `change` resolves to undefined for a part that is not changed. */
  update(number: number, change: (part: LogPart | undefined) => Promise<LogPart | undefined>): Promise<void>;
}

/**
 * Items in few objects, as lines of JSON added to the last part. A full part is compressed in place, then the next begins: both are single
 * writes, so a kill between them loses no line. Slices are read once the last one is there.
 */
export function keptLog(place: LogPlace): { append(lines: readonly KeptLine[]): Promise<void> } {
  let at: number | undefined;
  return {
    async append(lines) {
      const text = textOf(lines);
      const parts = Buffer.byteLength(text) > OPEN_BYTES ? slicesOf(await gzip(Buffer.from(text))) : [{ text }];
      at ??= Math.max(1, await place.last());
      for (let written = 0; written < parts.length; at += written < parts.length ? 1 : 0) {
        const before = written;
        await place.update(at, async (part) => {
          const joins = part !== undefined && 'text' in part && Buffer.byteLength(part.text) + Buffer.byteLength(text) <= OPEN_BYTES;
          // Slices are in a row: behind a part that is in their way the first one comes again.
          written = joins || part === undefined ? before + 1 : 0;
          if (part === undefined) return parts[before];
          if ('gz' in part) return undefined;
          return joins ? { text: part.text + text } : { gz: await gzip(Buffer.from(part.text)) };
        });
      }
    },
  };
}

const textOf = (lines: readonly KeptLine[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

/** These lines as one part; undefined if it cannot hold them. */
export async function partWith(lines: readonly KeptLine[]): Promise<LogPart | undefined> {
  const [part, ...more] = slicesOf(await gzip(Buffer.from(textOf(lines))));
  return more.length > 0 ? undefined : part;
}

function slicesOf(gz: Uint8Array): readonly LogPart[] {
  const of = Math.ceil(gz.length / PART_BYTES);
  if (of === 1) return [{ gz }];
  return Array.from({ length: of }, (_, at) => ({ gz: gz.subarray(at * PART_BYTES, (at + 1) * PART_BYTES), slice: `${at + 1}of${of}` }));
}

/** All lines, from the parts in order. Throws Fault('failed') if one is missing or cannot be read. */
export async function readLog(parts: ReadonlyMap<number, LogPart>, nameOf: (number: number) => string): Promise<readonly KeptLine[]> {
  const lines: KeptLine[] = [];
  let slices: readonly Uint8Array[] = [];
  for (let number = 1; number <= Math.max(0, ...parts.keys()); number += 1) {
    const part = parts.get(number);
    if (!part) throw damaged(nameOf(number), 'it is missing');
    const [nth, of] = ('gz' in part && part.slice?.split('of')) || ['1', '1'];
    // Slices that something else follows are of a write that was interrupted: nothing was done because of them.
    if (nth === '1') slices = [];
    if (nth !== `${slices.length + 1}`) throw damaged(nameOf(number), 'the part before it is missing');
    if ('gz' in part) slices = [...slices, part.gz];
    if (nth !== of) continue;
    const whole = 'gz' in part ? { gz: Buffer.concat(slices) } : part;
    lines.push(
      ...(await linesOf(whole).catch(() => {
        throw damaged(nameOf(number), 'it cannot be read');
      })),
    );
  }
  return lines;
}

async function linesOf(part: LogPart): Promise<readonly KeptLine[]> {
  const text = 'text' in part ? part.text : (await gunzip(part.gz, MOST_BYTES)).toString('utf8');
  return text.split('\n').flatMap((line) => (line === '' ? [] : [lineOf(JSON.parse(line))]));
}

function lineOf(value: unknown): KeptLine {
  const isLine = isRecord(value) && typeof value.id === 'string' && (value.outcome === undefined || isOutcome(value.outcome));
  if (!isLine) throw new Error('a line of it is none of this program');
  return value as unknown as KeptLine;
}

function isOutcome(value: unknown): boolean {
  const { done, except = [] } = isRecord(value) ? value : {};
  return typeof done === 'boolean' && areTexts(except);
}

function damaged(name: string, why: string): Fault {
  return new Fault('failed', `what the runs kept is incomplete: ${name}: ${why}`, [`restore ${name} from a backup`]);
}

/**
 * Items with this part in their id, each with its outcome, sorted by id. What is kept again under an id without a number replaces the earlier.
 * Two runs may use one number if one had an older record: both contents stay, without an outcome, as nobody knows whose it was.
 */
export function joined(lines: readonly KeptLine[], part: string): readonly KeptItem[] {
  const byId = new Map<string, { contents: readonly unknown[]; outcome?: KeptOutcome }>();
  for (const line of lines.filter(({ id }) => id.includes(part))) {
    const kept = byId.get(line.id) ?? { contents: [] };
    byId.set(line.id, kept);
    if (line.outcome) kept.outcome = line.outcome;
    if (!('content' in line) || kept.contents.some((one) => isDeepStrictEqual(one, line.content))) continue;
    kept.contents = numberOf(line) === 0 ? [line.content] : [...kept.contents, line.content];
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
  for (const [key, value] of Object.entries(content ?? {})) {
    if (key === TEXT_KEY) return { text: Buffer.from(value, 'base64').toString('utf8') };
    const [, isGz, slice] = /^(kept\.jsonl\.gz)(?:\.(\d+of\d+))?$/.exec(key) ?? [];
    if (isGz) return { gz: Buffer.from(value, 'base64'), ...(slice ? { slice } : {}) };
  }
  return undefined;
}

export function contentOfPart(part: LogPart): Content {
  if ('text' in part) return { [TEXT_KEY]: Buffer.from(part.text).toString('base64') };
  return { [part.slice ? `${GZ_KEY}.${part.slice}` : GZ_KEY]: Buffer.from(part.gz).toString('base64') };
}
