import type { Fault } from '../../kernel/fault.ts';

/** Bytes under a name, and the version that replaces them. */
export interface Stored {
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** Where the parts of a journal lie: Secrets or files. Every write is durable when it resolves. */
export interface JournalPlace {
  /** For users: `Secret/kube-system/netsvc-upgrade-owners`, a file path. */
  whereIs(name: string): string;
  read(name: string): Promise<Stored | undefined>;
  /** Throws if the name is taken. */
  create(name: string, bytes: Uint8Array): Promise<void>;
  /** Throws ApiFailure 409 if it is another version by now. */
  replace(name: string, bytes: Uint8Array, version: string): Promise<void>;
  /** Throws ApiFailure 409 if it is another version by now; nothing happens if it is not there. */
  remove(name: string, version: string): Promise<void>;
  /** Names of all parts, the head too, sorted. */
  names(): Promise<readonly string[]>;
  /** Other places of this kind that hold parts of a journal: namespaces. */
  others(): Promise<readonly string[]>;
  /** The next steps for a part that came to harm, or that is of another cluster. */
  advice(name: string, trouble: 'damaged' | 'foreign'): Fault['suggestions'];
}

/** Name of the head; all parts begin with it. */
export const JOURNAL_NAME = 'netsvc-upgrade-owners';

/** True for the head and for chunks, `…-RUN-APPEND-NUMBER`, and for no other name that begins like them. */
export function isPart(name: string): boolean {
  return name === JOURNAL_NAME || /^netsvc-upgrade-owners-[a-z0-9.-]+-\d{4,}-\d{4,}$/.test(name);
}
