import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { JOURNAL_VERSION, type JournalEntry, type JournalForm } from '../../kernel/journal.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { gunzip, gzip, TooLarge } from '../compression.ts';

/** Compressed bytes of one chunk: a Secret holds 1 MiB, and a request 1.5 MiB. */
export const CHUNK_BYTES = 700_000;
/** Text that one chunk is tried with first: UIDs are random, so it becomes about a fifth. */
const TEXT_BYTES = 2_500_000;
/** Far more than the text of any chunk that this program makes. */
const MOST_TEXT_BYTES = 32 * 1024 * 1024;

/** Whose entries a chunk holds: its first line. */
export interface ChunkHeader {
  readonly version: typeof JOURNAL_VERSION;
  readonly clusterUid: string;
  readonly runId: string;
  /** Number of the append, from 1. */
  readonly append: number;
  /** This chunk of the append, from 1, and how many there are. */
  readonly number: number;
  readonly of: number;
  readonly entries: number;
}

interface Chunk {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly entries: number;
}

/** The entries in as few chunks as fit: gzip, a header line, then one line of JSON per entry. Each can be read alone. */
export async function packChunks(
  entries: readonly JournalEntry[],
  whose: Pick<ChunkHeader, 'clusterUid' | 'runId' | 'append'>,
): Promise<readonly Chunk[]> {
  let groups = grouped(entries.map((entry) => JSON.stringify(entry)));
  for (;;) {
    const of = groups.length;
    const chunks = await Promise.all(
      groups.map((lines, index) => packed(lines, { ...whose, version: JOURNAL_VERSION, number: index + 1, of, entries: lines.length })),
    );
    if (chunks.every(({ bytes }) => bytes.length <= CHUNK_BYTES)) return chunks;
    groups = groups.flatMap((lines, index) => ((chunks[index]?.bytes.length ?? 0) > CHUNK_BYTES ? halves(lines) : [lines]));
  }
}

function grouped(lines: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let room = 0;
  for (const line of lines) {
    if (room < line.length) {
      groups.push([]);
      room = TEXT_BYTES;
    }
    room -= line.length;
    groups.at(-1)?.push(line);
  }
  return groups;
}

function halves(lines: readonly string[]): readonly (readonly string[])[] {
  if (lines.length < 2)
    throw new Fault('failed', `one object's owner references do not fit into a Secret: ${lines[0]?.slice(0, 200)}…`, [
      'nothing was removed; shorten the list of owners of this object',
    ]);
  const middle = Math.ceil(lines.length / 2);
  return [lines.slice(0, middle), lines.slice(middle)];
}

async function packed(lines: readonly string[], header: ChunkHeader): Promise<Chunk> {
  const bytes = await gzip(Buffer.from(`${[JSON.stringify(header), ...lines].join('\n')}\n`));
  return { bytes, sha256: sha256Of(bytes), entries: lines.length };
}

/** Header and entries of a chunk. Throws an Error whose message says what is wrong. */
export async function unpackChunk(
  bytes: Uint8Array,
  { isEntry }: Pick<JournalForm, 'isEntry'>,
): Promise<{ readonly header: ChunkHeader; readonly entries: readonly JournalEntry[] }> {
  const text = await gunzip(bytes, MOST_TEXT_BYTES).catch((thrown: unknown) => {
    throw thrown instanceof TooLarge ? thrown : new Error('it is no gzip data, or cut short', { cause: thrown });
  });
  const lines = text.toString('utf8').split('\n');
  if (lines.pop() !== '') throw new Error('its last line is cut short');
  const [header, ...entries] = lines.map(parsed);
  if (!isHeader(header)) throw new Error('its first line is no header');
  if (header.version > JOURNAL_VERSION) throw new Error(`it has version ${header.version}; this program knows ${JOURNAL_VERSION}`);
  if (entries.length !== header.entries)
    throw new Error(`it holds ${counted(entries.length, 'entry', 'entries')}, its header says ${header.entries}`);
  const wrong = entries.findIndex((entry) => !isEntry(entry));
  if (wrong >= 0) throw new Error(`its entry ${wrong + 1} is not whole`);
  return { header, entries: entries.filter(isEntry) };
}

function parsed(line: string, index: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(`its line ${index + 1} is not JSON`);
  }
}

function isHeader(value: unknown): value is ChunkHeader {
  const header = value as Partial<ChunkHeader> | null;
  if (typeof header !== 'object' || header === null) return false;
  const numbers = [header.version, header.append, header.number, header.of, header.entries];
  return numbers.every(Number.isInteger) && typeof header.clusterUid === 'string' && typeof header.runId === 'string';
}
