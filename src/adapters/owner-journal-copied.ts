import { mergeEntries } from '../core/owner-merge.ts';
import type { OwnerJournalStore } from '../core/ports.ts';
import { type JournalDeps, ownerJournal } from './owner-journal.ts';
import type { JournalFolder } from './owner-journal-folder.ts';

/**
 * The journal in the cluster with a second copy in a local folder (`--journal-dir`): the cluster first, then the folder, and only when
 * both hold an append is it over. What the cluster has counts; the copy is read if the cluster's is gone altogether.
 */
export function copiedJournal(deps: JournalDeps, folder: JournalFolder): OwnerJournalStore {
  const cluster = ownerJournal(deps);
  const copy = ownerJournal({ ...deps, place: folder });
  return {
    async load() {
      const journal = await cluster.load();
      if (journal) return journal;
      const copied = await copy.load();
      return copied && { ...copied, copyOnly: true };
    },
    async append(entries) {
      const journal = await cluster.load();
      const copied = await copy.load();
      // A copy without a journal in the cluster is of an upgrade that is over: it must not be mixed with this one.
      if (!journal && copied) await folder.setAside();
      await cluster.append(entries);
      // A folder given only now, or on another machine, gets what came before, too.
      const missing = journal && JSON.stringify(copied?.entries) !== JSON.stringify(journal.entries) ? journal.entries : [];
      await copy.append(mergeEntries([...missing, ...entries]));
    },
    async archive(file) {
      return (await cluster.load()) ? cluster.archive(file) : copy.archive(file);
    },
    async forget() {
      await cluster.forget();
      await copy.forget();
    },
  };
}
