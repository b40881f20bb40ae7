import type { Content, Entry } from '../state/ledger.ts';
import type { LogPart } from './log.ts';

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
