import { Fault } from '../../kernel/fault.ts';
import { type OwnerJournal, withoutNotes } from '../../kernel/owner-journal.ts';
import { mergeEntries } from '../../kernel/owner-merge.ts';
import type { OwnerJournalStore } from '../../kernel/ports.ts';
import { type JournalDeps, ownerJournal } from './owner-journal.ts';
import { JOURNAL_NAME, type JournalPlace } from './place.ts';

/**
 * The journal in the cluster with a copy in a local folder (`--journal-dir`), written second; an append is done when both hold it. The copy
 * is read only if the cluster's is gone; once the user confirms that (`isTrusted`), the next append restores it.
 */
export function copiedJournal(deps: JournalDeps, folder: JournalPlace, isTrusted = false): OwnerJournalStore {
  const cluster = ownerJournal(deps);
  const copy = ownerJournal({ ...deps, place: folder });
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
      if (!journal && copied) await cluster.append(withoutNotes(copied).entries);
      await cluster.append(entries);
      // A folder given only now, or one that missed an append, gets what came before, too.
      const missing = journal && JSON.stringify(copied?.entries) !== JSON.stringify(journal.entries) ? journal.entries : [];
      await copy.append(mergeEntries([...missing, ...entries]));
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
function holdsAny(journal: OwnerJournal | undefined): journal is OwnerJournal {
  return journal !== undefined && journal.entries.length > 0;
}

const whereItHolds = (journal: OwnerJournal | undefined) => (holdsAny(journal) ? journal : undefined);

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
