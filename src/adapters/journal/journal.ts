import { command } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { JOURNAL_VERSION, type JournalStore } from '../../kernel/journal.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { text } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { packChunks } from './chunk.ts';
import { type AppendRecord, headBytes, JOURNAL_NAME, refusal } from './head.ts';
import { type JournalSource, journalReader, writeArchive } from './read.ts';

const TRIES = 5;

export interface JournalDeps extends JournalSource {
  readonly profile: string;
  readonly runId: string;
}

/**
 * The journal over a place for its parts: an append writes new chunks, reads each back, then names them in the head.
 * That one write adds them; nothing acknowledged is ever rewritten.
 */
export function journalStore(deps: JournalDeps): JournalStore {
  const { place, clusterUid, profile, runId } = deps;
  const { readHead, readAll, readUnacknowledged } = journalReader(deps);

  /** A head to append to: what is being forgotten is finished first. */
  async function openHead(): Promise<void> {
    const read = await readHead();
    if (read?.head.forgotten) await erase();
    if (read && !read.head.forgotten) return;
    await createChecked(JOURNAL_NAME, headBytes({ version: JOURNAL_VERSION, clusterUid, profile, appends: [] }));
  }

  /** Names of all parts; a chunk that no head names makes the journal unusable. Two answers must agree, as one may be outdated. */
  async function besideHead(): Promise<readonly string[]> {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      await openHead();
      const names = await place.names();
      if (names.includes(JOURNAL_NAME)) return names;
    }
    throw refusal(place, JOURNAL_NAME)('it is read, and is not in the list of what is there; nothing was written beside it');
  }

  /** Reads what is there afterwards, as an answer may be lost on its way. */
  async function createChecked(name: string, bytes: Uint8Array): Promise<void> {
    const failure = await place.create(name, bytes).then(
      () => undefined,
      (thrown: unknown) => ({ thrown }),
    );
    const stored = await place.read(name);
    if (stored && sha256Of(stored.bytes) === sha256Of(bytes)) return;
    if (failure) throw failure.thrown;
    throw refusal(place, name)('it does not hold what was just written; nothing was removed because of it');
  }

  /** Adds the append to the head; over when it is read there. */
  async function acknowledge(record: AppendRecord): Promise<void> {
    let failure: unknown;
    for (let attempt = 1; ; attempt += 1) {
      const read = await readHead();
      if (!read || read.head.forgotten) throw refusal(place, JOURNAL_NAME)('it was deleted while it was written to');
      if (read.head.appends.some((one) => JSON.stringify(one) === JSON.stringify(record))) return;
      if (failure && !isConflict(failure)) throw failure;
      if (attempt > TRIES) throw failure ?? refusal(place, JOURNAL_NAME)('it does not keep what is written to it');
      failure = await place.replace(JOURNAL_NAME, headBytes({ ...read.head, appends: [...read.head.appends, record] }), read.version).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    }
  }

  /** Chunks first, then the head, which is already marked: a crash in between leaves a void journal, to be erased again. */
  async function erase(): Promise<void> {
    for (const name of (await place.names()).toReversed()) {
      const stored = await place.read(name);
      if (stored) await place.remove(name, stored.version);
    }
  }

  return {
    async load() {
      const read = await readHead();
      return read === undefined || read.head.forgotten ? undefined : readAll(read.head);
    },
    async append(entries) {
      if (entries.length === 0) return;
      const append = nextNumber(await besideHead());
      const chunks = await packChunks(entries, { clusterUid, runId, append });
      const named = chunks.map((chunk, index) => ({ ...chunk, name: chunkName(runId, append, index + 1) }));
      for (const { name, bytes } of named) await createChecked(name, bytes);
      await acknowledge({ append, runId, chunks: named.map(({ name, sha256, entries: count }) => ({ name, sha256, entries: count })) });
    },
    async archive(file) {
      const read = await readHead();
      if (!read || read.head.forgotten)
        throw new Fault('failed', 'there is no journal of owner references to archive', [
          text`another run has ended it: ${command`kubectl netsvc-upgrade status`}`,
        ]);
      return writeArchive(file, await readAll(read.head), await readUnacknowledged(read.head));
    },
    async leftOver() {
      const read = await readHead();
      return read?.head.forgotten === true;
    },
    async forget() {
      const read = await readHead();
      if (!read) return;
      if (!read.head.forgotten) {
        await readAll(read.head);
        await readUnacknowledged(read.head);
        await place.replace(JOURNAL_NAME, headBytes({ ...read.head, forgotten: true }), read.version);
      }
      await erase();
    },
  };
}

/** Numbers continue over appends that failed, so that no name comes twice. */
function nextNumber(names: readonly string[]): number {
  return 1 + Math.max(0, ...names.map((name) => Number(/-(\d+)-\d+$/.exec(name)?.[1] ?? 0)));
}

function chunkName(runId: string, append: number, number: number): string {
  const run = runId.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
  return `${JOURNAL_NAME}-${run}-${String(append).padStart(4, '0')}-${String(number).padStart(4, '0')}`;
}

function isConflict(thrown: unknown): boolean {
  return thrown instanceof ApiFailure && thrown.status === 409;
}
