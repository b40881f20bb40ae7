import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { journalSecrets } from '../../src/adapters/journal/secrets.ts';
import { ledgerRecords } from '../../src/adapters/records/records.ts';
import { secretLedger } from '../../src/adapters/state/ledger.ts';
import type { KeptHere, SeenHere } from '../../src/adapters/state/seen-here.ts';
import type { Cluster, WorkFolder } from '../../src/kernel/ports.ts';

const FORGETFUL: KeptHere = { note: async () => undefined, has: async () => false };

const BLIND: SeenHere = { check: async () => undefined, note: async () => undefined };

/** The run record as a process of its own would see it. */
export const recordsIn = (cluster: Cluster, here: KeptHere = FORGETFUL, seen: SeenHere = BLIND) =>
  ledgerRecords(secretLedger(cluster), here, seen);

/** Where the journal of owner references lies, for a process of its own. */
export const journalIn = (cluster: Cluster) => journalSecrets(secretLedger(cluster));

/** Files of a work folder, or of one that stands in for it. */
export function workIn(path: string, standsInFor?: string): Omit<WorkFolder, 'freeBytes'> {
  return {
    path,
    ...(standsInFor === undefined ? {} : { standsInFor }),
    read: (name) => readFile(join(path, name), 'utf8').catch(() => undefined),
    async write(name, content) {
      await writeFile(join(path, name), content);
      return join(path, name);
    },
  };
}
