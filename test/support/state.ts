import { journalSecrets } from '../../src/adapters/journal/secrets.ts';
import { ledgerRecords } from '../../src/adapters/records/records.ts';
import { secretLedger } from '../../src/adapters/state/ledger.ts';
import type { Cluster } from '../../src/kernel/ports.ts';

/** The run record as a process of its own would see it. */
export const recordsIn = (cluster: Cluster) => ledgerRecords(secretLedger(cluster));

/** Where the journal of owner references lies, for a process of its own. */
export const journalIn = (cluster: Cluster) => journalSecrets(secretLedger(cluster));
