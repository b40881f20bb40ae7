import type { Interruption } from '../kernel/interruption.ts';
import type { Cluster, Lock, Machine, OwnerJournalStore, Sources } from '../kernel/ports.ts';

/** Everything the engine acts through. */
export interface EnginePorts extends Sources {
  readonly cluster: Cluster;
  readonly lock: Lock;
  readonly ownerJournal: OwnerJournalStore;
  readonly machine: Machine;
  readonly interruption: Interruption;
  /** Who runs this, for the record: `alice@host`. */
  readonly operator: string;
  readonly toolVersion: string;
}
