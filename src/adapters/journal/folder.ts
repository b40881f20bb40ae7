import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import type { Journal, JournalStore } from '../../kernel/journal.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { ifThere, writeDurably } from '../durable-write.ts';
import { assertOwnFolder } from '../work-folder.ts';
import { isPart, JOURNAL_NAME, type JournalPlace } from './head.ts';
import { type JournalDeps, journalStore } from './journal.ts';
import { syncFolder } from './read.ts';

/** The journal as files (0600) in a folder of its own (0700): head `….json`, chunks `….jsonl.gz`. */
export function journalFolder(folder: string): JournalPlace {
  const fileOf = (name: string) => join(folder, name === JOURNAL_NAME ? `${name}.json` : `${name}.jsonl.gz`);
  async function read(name: string) {
    // What lies there is put back on objects of the cluster.
    await ifThere(assertOwnFolder(folder, 'folder of the journal'));
    const bytes = await ifThere(readFile(fileOf(name)));
    return bytes && { bytes, version: sha256Of(bytes) };
  }
  async function expect(name: string, version: string | undefined): Promise<void> {
    if ((await read(name))?.version !== version) throw new ApiFailure(409, 'Conflict', `${fileOf(name)} is another one by now`);
  }
  async function replace(name: string, bytes: Uint8Array, version: string | undefined): Promise<void> {
    await expect(name, version);
    await writeDurably(fileOf(name), bytes, 0o600);
    await syncFolder(folder);
  }
  return {
    whereIs: fileOf,
    read,
    replace,
    async create(name, bytes) {
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      if (made !== undefined) await syncFolder(dirname(made));
      await replace(name, bytes, undefined);
    },
    async remove(name, version) {
      if (!(await read(name))) return;
      await expect(name, version);
      await rm(fileOf(name));
      await syncFolder(folder);
    },
    async names() {
      const files = (await ifThere(readdir(folder))) ?? [];
      const own = files.flatMap((file) => {
        const name = file.replace(/\.json(l\.gz)?$/, '');
        return isPart(name) && fileOf(name) === join(folder, file) ? [name] : [];
      });
      return own.sort();
    },
    others: async () => [],
    advice: (_name, trouble) =>
      trouble === 'foreign'
        ? [`keep ${folder}: what that cluster lacks is put back from it`, 'name another folder with --journal-dir, or leave it out']
        : [
            `move ${folder} away, and run the same command again: where the cluster has the journal, the next strip makes a new copy`,
            'where the cluster has none, docs/reference/journal.md has the manual recovery from what is left in the folder',
          ],
  };
}

/**
 * The journal in the cluster with a copy in a local folder (`--journal-dir`), written second; an append is done when both hold it. The copy
 * is read only if the cluster's is gone; once the user confirms that (`isTrusted`), the next append restores it.
 */
export function copiedJournal(deps: JournalDeps, folder: JournalPlace, isTrusted = false): JournalStore {
  const cluster = journalStore(deps);
  const copy = journalStore({ ...deps, place: folder });
  return {
    async load() {
      const journal = await cluster.load();
      if (holdsAny(journal)) return journal;
      const copied = await copy.load();
      return holdsAny(copied) ? { ...copied, copyOnly: true } : (journal ?? copied);
    },
    async append(entries) {
      const journal = whereItHolds(await cluster.load());
      const copied = whereItHolds(await copy.load());
      if (!journal && copied && !isTrusted) throw leftOver(folder);
      const { merged, withoutNotes } = await deps.form();
      if (!journal && copied) await cluster.append(withoutNotes(copied.entries));
      await cluster.append(entries);
      // A folder given only now, or one that missed an append, gets what came before, too.
      const missing = journal && JSON.stringify(copied?.entries) !== JSON.stringify(journal.entries) ? journal.entries : [];
      await copy.append(merged([...missing, ...entries]));
    },
    async archive(file) {
      const [journal, copied] = [await cluster.load(), await copy.load()];
      return holdsAny(journal) || !holdsAny(copied) ? cluster.archive(file) : copy.archive(file);
    },
    leftOver: async () => (await cluster.leftOver()) || (await copy.leftOver()),
    elsewhere: () => cluster.elsewhere(),
    async forget() {
      // The copy first: interrupted in between, it would remain alone, as if the cluster's had been lost.
      await copy.forget();
      await cluster.forget();
    },
  };
}

/** A head that names nothing is left by an interrupted or refused append; beside a copy with entries it is no journal. */
function holdsAny(journal: Journal | undefined): journal is Journal {
  return journal !== undefined && journal.entries.length > 0;
}

const whereItHolds = (journal: Journal | undefined) => (holdsAny(journal) ? journal : undefined);

/** It is of an upgrade that was finished from elsewhere, or the only record of this one: only the user can tell. */
function leftOver(folder: JournalPlace): Fault {
  return new Fault(
    'failed',
    `the cluster has no journal of owner references, but there is a local copy of one: ${folder.whereIs(JOURNAL_NAME)}`,
    [
      'if the journal in the cluster was lost, run the same command again with --accept NS-751: it is restored from the copy',
      'if that upgrade was ended from elsewhere, move the folder away, or name another one with --journal-dir',
    ],
  );
}
