import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApiFailure } from '../../kernel/ports.ts';
import { writeDurably } from '../durable-write.ts';
import { assertOwnFolder } from '../work-folder.ts';
import { digestOf } from './chunk.ts';
import { isPart, JOURNAL_NAME, type JournalPlace } from './place.ts';
import { syncFolder } from './read.ts';

/** The journal as files (0600) in a folder of its own (0700): head `….json`, chunks `….jsonl.gz`. */
export function journalFolder(folder: string): JournalPlace {
  const fileOf = (name: string) => join(folder, name === JOURNAL_NAME ? `${name}.json` : `${name}.jsonl.gz`);
  let checked: Promise<void> | undefined;
  /** What lies there is put back on objects of the cluster. */
  const ours = () => {
    checked ??= assertOwnFolder(folder, 'folder of the journal').catch((thrown: unknown) => {
      checked = undefined;
      if (!isAbsent(thrown)) throw thrown;
    });
    return checked;
  };
  async function read(name: string) {
    await ours();
    try {
      const bytes = await readFile(fileOf(name));
      return { bytes, version: digestOf(bytes) };
    } catch (thrown) {
      if (isAbsent(thrown)) return undefined;
      throw thrown;
    }
  }
  async function write(name: string, bytes: Uint8Array): Promise<void> {
    await writeDurably(fileOf(name), bytes, 0o600);
    await syncFolder(folder);
  }
  async function expect(name: string, version: string | undefined): Promise<void> {
    if ((await read(name))?.version !== version) throw new ApiFailure(409, 'Conflict', `${fileOf(name)} is another one by now`);
  }
  return {
    whereIs: fileOf,
    read,
    async create(name, bytes) {
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      if (made !== undefined) await syncFolder(dirname(made));
      await ours();
      await expect(name, undefined);
      await write(name, bytes);
    },
    async replace(name, bytes, version) {
      await expect(name, version);
      await write(name, bytes);
    },
    async remove(name, version) {
      if (!(await read(name))) return;
      await expect(name, version);
      await rm(fileOf(name));
      await syncFolder(folder);
    },
    async names() {
      const files = await readdir(folder).catch((thrown: unknown) => {
        if (isAbsent(thrown)) return [];
        throw thrown;
      });
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

function isAbsent(thrown: unknown): boolean {
  return (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}
