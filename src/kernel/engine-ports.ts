import type { EffectTypes } from './effect-type.ts';
import type { Interruption } from './interruption.ts';
import type { Cluster, Lock, Machine, OwnerJournalStore, Sources } from './ports.ts';

/** Everything the engine acts through. */
export interface EnginePorts extends Sources {
  /** What actions may do: the effects of the kernel and of the features. */
  readonly effects: EffectTypes;
  readonly cluster: Cluster;
  readonly lock: Lock;
  readonly ownerJournal: OwnerJournalStore;
  readonly machine: Machine;
  readonly interruption: Interruption;
  /** Who runs this, for the record: `alice@host`. */
  readonly operator: string;
  readonly toolVersion: string;
}
