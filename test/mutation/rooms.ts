import { JOURNAL } from './journal-faults.ts';
import { LOCK } from './lock-faults.ts';
import { MERGE } from './merge-faults.ts';
import { REFERENCES, WRITE_AHEAD } from './reference-faults.ts';
import type { Room } from './seeded-fault.ts';

/** Code in which a defect could lose what belongs to a person. */
export const ROOMS: readonly Room[] = [JOURNAL, REFERENCES, WRITE_AHEAD, LOCK, MERGE];
