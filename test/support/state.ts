import { journalSecrets } from '../../src/adapters/journal/secrets.ts';
import { ledgerRecords } from '../../src/adapters/records/records.ts';
import type { KeptHere } from '../../src/adapters/state/kept-here.ts';
import { secretLedger } from '../../src/adapters/state/ledger.ts';
import type { Cluster } from '../../src/kernel/ports.ts';

const FORGETFUL: KeptHere = { note: async () => undefined, has: async () => false };

/** The run record as a process of its own would see it. */
export const recordsIn = (cluster: Cluster, namespace = 'kube-system', here: KeptHere = FORGETFUL) =>
  ledgerRecords(secretLedger(cluster, namespace), here);

/** Where the journal of owner references lies, for a process of its own. */
export const journalIn = (cluster: Cluster, namespace = 'kube-system') => journalSecrets(secretLedger(cluster, namespace), namespace);
