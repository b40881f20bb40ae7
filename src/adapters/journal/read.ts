import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { succeeds } from '../../kernel/each-of.ts';
import { messageOf } from '../../kernel/fault.ts';
import { JOURNAL_VERSION, type Journal, type JournalEntry, type JournalForm } from '../../kernel/journal.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { writeDurablyNew } from '../durable-write.ts';
import { type ChunkHeader, unpackChunk } from './chunk.ts';
import { type AppendRecord, JOURNAL_NAME, type JournalHead, type JournalPlace, parseHead, refusal } from './head.ts';

export interface JournalSource {
  readonly place: JournalPlace;
  /** Asked for once there are entries. */
  readonly form: () => Promise<JournalForm>;
  /** UID of the namespace kube-system. */
  readonly clusterUid: string;
}

interface ReadHead {
  readonly head: JournalHead;
  readonly version: string;
}

/** Entries of a chunk that no head names. */
interface Unacknowledged {
  readonly name: string;
  readonly entries: readonly JournalEntry[];
}

interface JournalReader {
  /** Undefined if there is no journal. Every method throws Fault('failed') for what is not as it was written. */
  readHead(): Promise<ReadHead | undefined>;
  readAll(head: JournalHead): Promise<Journal>;
  /** Chunks of appends that ended before they were acknowledged: nothing was removed on their strength. */
  readUnacknowledged(head: JournalHead): Promise<readonly Unacknowledged[]>;
}

/** Reads the parts of a journal and checks each: cluster, version, checksum, number of entries, shape. */
export function journalReader({ place, form, clusterUid }: JournalSource): JournalReader {
  async function readHead(): Promise<ReadHead | undefined> {
    const stored = await place.read(JOURNAL_NAME);
    if (stored) return { head: parseHead(stored.bytes, place, clusterUid), version: stored.version };
    const [orphan] = await place.names();
    // The head is made before the first chunk: without it, somebody deleted it.
    if (orphan !== undefined)
      throw refusal(place, orphan, 'missing')(`it is a part of a journal whose head ${place.whereIs(JOURNAL_NAME)} is gone`);
    return undefined;
  }

  async function readChunk(append: AppendRecord, index: number): Promise<readonly JournalEntry[]> {
    const { name = '', sha256, entries: count } = append.chunks[index] ?? {};
    const refuse = refusal(place, name);
    const stored = await place.read(name);
    if (!stored) throw refusal(place, name, 'missing')('it is gone');
    if (sha256Of(stored.bytes) !== sha256) throw refuse('its checksum does not match: it was changed or cut short');
    const { header, entries } = await unpackChunk(stored.bytes, await form()).catch((thrown: unknown) => {
      throw refuse(messageOf(thrown));
    });
    if (!belongs(header, { clusterUid, append, index }) || entries.length !== count) throw refuse('it is a chunk of another journal');
    return entries;
  }

  async function readAll(head: JournalHead): Promise<Journal> {
    const all: JournalEntry[] = [];
    for (const append of head.appends)
      for (const index of append.chunks.keys()) for (const entry of await readChunk(append, index)) all.push(entry);
    const { merged } = await form();
    const entries = merged(all);
    return {
      version: JOURNAL_VERSION,
      clusterUid,
      profile: head.profile,
      runIds: [...new Set(head.appends.map((append) => append.runId))],
      entries,
      readFrom: place.whereIs(JOURNAL_NAME),
      parts: head.appends.flatMap(({ chunks }) => chunks.map(({ sha256 }) => sha256)),
    };
  }

  async function readUnacknowledged(head: JournalHead): Promise<readonly Unacknowledged[]> {
    const known = new Set([JOURNAL_NAME, ...head.appends.flatMap(({ chunks }) => chunks.map(({ name }) => name))]);
    const found: Unacknowledged[] = [];
    for (const name of (await place.names()).filter((one) => !known.has(one))) {
      const stored = await place.read(name);
      if (!stored) continue;
      const { entries } = await unpackChunk(stored.bytes, await form()).catch((thrown: unknown) => {
        throw refusal(place, name)(messageOf(thrown));
      });
      found.push({ name, entries });
    }
    return found;
  }

  return { readHead, readAll, readUnacknowledged };
}

function belongs(header: ChunkHeader, of: { readonly clusterUid: string; readonly append: AppendRecord; readonly index: number }): boolean {
  const { append, index } = of;
  return (
    header.clusterUid === of.clusterUid &&
    header.runId === append.runId &&
    header.append === append.append &&
    header.number === index + 1 &&
    header.of === append.chunks.length
  );
}

/** Writes the whole journal as readable JSON (0600) for the user: nothing reads it. A file that is there is kept, and the next number taken. */
export async function writeArchive(file: string, journal: Journal, unacknowledged: readonly Unacknowledged[]): Promise<string> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  let name = file;
  for (let number = 2; await succeeds(lstat(name)); number += 1) name = file.replace(/(\.json)?$/, `-${number}$1`);
  await writeDurablyNew(name, Buffer.from(`${JSON.stringify({ ...journal, unacknowledged }, undefined, 1)}\n`), 0o600);
  await syncFolder(dirname(name));
  return name;
}

/** Makes the names in a folder durable. Windows cannot, and needs not. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
