import { Fault } from '../../kernel/fault.ts';
import { JOURNAL_VERSION } from '../../kernel/journal.ts';
import { isListOf, isRecord, type JsonMap } from '../../kernel/json.ts';
import { ownName } from '../../kernel/own-name.ts';
import type { Suggestion } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';

/** An acknowledged append: its chunks, in order. */
export interface AppendRecord {
  readonly append: number;
  readonly runId: string;
  readonly chunks: readonly { readonly name: string; readonly sha256: string; readonly entries: number }[];
}

/** What is acknowledged. A chunk that is not named here was never part of the journal. */
export interface JournalHead {
  readonly version: typeof JOURNAL_VERSION;
  readonly clusterUid: string;
  readonly profile: string;
  readonly appends: readonly AppendRecord[];
  /** Being deleted: everything in it is void. */
  readonly forgotten?: true;
}

/** The head as JSON with its own digest, in a form that users can read. */
export function headBytes(head: JournalHead): Uint8Array {
  return Buffer.from(`${JSON.stringify({ sha256: sha256Of(JSON.stringify(head)), journal: head }, undefined, 1)}\n`);
}

/** Reads the head of this cluster's journal. Throws Fault('failed') naming the place and what is wrong. */
export function parseHead(bytes: Uint8Array, place: JournalPlace, clusterUid: string): JournalHead {
  const refuse = refusal(place, JOURNAL_NAME);
  const document = parsed(bytes);
  if (!document) throw refuse('it is not JSON, or not a whole journal');
  const { sha256, journal } = document;
  const { version } = journal;
  if (typeof version === 'number' && version > JOURNAL_VERSION)
    throw new Fault(
      'failed',
      `the journal in ${place.whereIs(JOURNAL_NAME)} has version ${version}; this program knows ${JOURNAL_VERSION}`,
      [`use the version of ${ownName()} that wrote it, or a newer one`],
    );
  if (version !== JOURNAL_VERSION) throw refuse('it has no version');
  if (journal.clusterUid !== clusterUid)
    throw refusal(
      place,
      JOURNAL_NAME,
      'foreign',
    )(
      `it is of another cluster: kube-system had UID ${typeof journal.clusterUid === 'string' ? journal.clusterUid : 'unknown'} there and has ${clusterUid} here`,
    );
  if (sha256 !== sha256Of(JSON.stringify(journal))) throw refuse('its checksum does not match: it was changed by somebody else');
  return journal as unknown as JournalHead;
}

/** A refusal that names the part, says why, and what to do. */
export function refusal(place: JournalPlace, name: string, trouble: 'damaged' | 'missing' | 'foreign' = 'damaged'): (why: string) => Fault {
  const advice = place.advice(name, trouble === 'foreign' ? trouble : 'damaged');
  const code = trouble === 'missing' ? 'stale' : 'failed';
  return (why) => new Fault(code, `the journal of owner references cannot be used: ${place.whereIs(name)}: ${why}`, advice);
}

function isAppend({ append, runId, chunks }: JsonMap): boolean {
  return Number.isInteger(append) && typeof runId === 'string' && isListOf(chunks, isChunk);
}

/** Whatever name it has is looked up. */
function isChunk({ name, sha256, entries }: JsonMap): boolean {
  return typeof name === 'string' && isPart(name) && typeof sha256 === 'string' && Number.isInteger(entries);
}

function parsed(bytes: Uint8Array): { readonly sha256: unknown; readonly journal: Readonly<Record<string, unknown>> } | undefined {
  try {
    const document = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return isRecord(document?.journal) && isListOf(document.journal.appends, isAppend) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Bytes under a name, and the version that replaces them. */
export interface Stored {
  readonly bytes: Uint8Array;
  readonly version: string;
}

/** Where the parts of a journal lie. Every write is durable when it resolves. */
export interface JournalPlace {
  /** For users: `Secret/kube-system/netsvc-upgrade-owners`. */
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
  /** The next steps for a part that came to harm, or that is of another cluster. */
  advice(name: string, trouble: 'damaged' | 'foreign'): readonly Suggestion[];
}

/** Name of the head; all parts begin with it. */
export const JOURNAL_NAME = 'netsvc-upgrade-owners';

/** True for the head and for chunks, `…-RUN-APPEND-NUMBER`, and for no other name that begins like them. */
export function isPart(name: string): boolean {
  return name === JOURNAL_NAME || /^netsvc-upgrade-owners-[a-z0-9.-]+-\d{4,}-\d{4,}$/.test(name);
}
