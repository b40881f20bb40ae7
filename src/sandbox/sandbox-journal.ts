import { contentText, OWNER_JOURNAL_VERSION, type OwnerJournal } from '../kernel/owner-journal.ts';
import { mergeEntries } from '../kernel/owner-merge.ts';
import type { OwnerJournalStore } from '../kernel/ports.ts';
import type { SandboxFiles } from './sandbox-files.ts';
import type { SandboxState } from './scenario.ts';

/** The journal of owner references in memory: it outlives the process that wrote it. */
export function memoryJournal(state: SandboxState, files: SandboxFiles, clusterUid: string, alive: () => void): OwnerJournalStore {
  const stored = (): OwnerJournal | undefined => {
    if (!state.ownerEntries) return undefined;
    const entries = mergeEntries(state.ownerEntries);
    return {
      version: OWNER_JOURNAL_VERSION,
      clusterUid,
      profile: 'netsvc',
      runIds: ['sandbox'],
      entries,
      readFrom: 'the sandbox',
      copyOnly: false,
      // Counted: nobody changes them here.
      parts: state.ownerEntries.map((_, index) => `${index + 1}`),
      content: contentText(entries),
    };
  };
  return {
    async load() {
      alive();
      return stored();
    },
    async append(entries) {
      alive();
      if (entries.length > 0) state.ownerEntries = [...(state.ownerEntries ?? []), ...structuredClone(entries)];
    },
    async archive(file) {
      alive();
      files.write(file, JSON.stringify(stored()));
      return file;
    },
    leftOver: async () => false,
    elsewhere: async () => [],
    async forget() {
      alive();
      delete state.ownerEntries;
    },
  };
}
