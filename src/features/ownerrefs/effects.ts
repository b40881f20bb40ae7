import type { Effect, PatchAll } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { announced, type EffectTypes, type EnginePorts, type GuardTypes, type Performed, whole } from '../../kernel/effect-type.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import type { JournalEntry } from '../../kernel/journal.ts';
import { isRecord } from '../../kernel/json.ts';
import { refText } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { runIdOf } from '../../kernel/run-record.ts';
import { AGAIN, text } from '../../kernel/step.ts';
import { entryKey, strippedIn } from './journal-entries.ts';
import { isRecorded, unrecorded } from './owner-strip.ts';

/** Appends to the journal of owner references; durable, and read back, when it is done. */
interface RecordOwners {
  readonly type: 'record-owners';
  readonly entries: readonly JournalEntry[];
  /** A new file on this machine that is given all of it for the user: nothing reads it again. */
  readonly archive?: string;
  /** Notes only what was put back. A journal without it is still safe, so a server's refusal (a quota) ends nothing. */
  readonly isNote?: boolean;
}

/** Writes the journal of owner references to a file on this machine, then deletes it from the cluster. */
interface ForgetOwners {
  readonly type: 'forget-owners';
  readonly file: string;
}

type Ports = Pick<EnginePorts, 'journal'>;

/** Forbidden (a quota among others), too large, invalid: the same request fares no better. */
const REFUSALS: readonly number[] = [403, 413, 422];

const isRefused = (thrown: unknown): thrown is ApiFailure => thrown instanceof ApiFailure && REFUSALS.includes(thrown.status);

type Recording = Extract<Effect, { type: 'record-owners' }>;

/** Appends to the journal and reads it back; throws Fault('failed') if an entry is missing. A refused note is only reported. */
export async function recordOwners({ journal: store }: Ports, { entries, isNote, archive }: Recording): Promise<Performed> {
  try {
    await store.append(entries);
  } catch (thrown) {
    if (isNote && isRefused(thrown))
      return { detail: `not noted, so a reference that you remove yourself may come back: ${thrown.message}` };
    throw thrown;
  }
  const journal = await store.load();
  const stored = new Map(journal?.entries.map((entry) => [entryKey(entry), entry]));
  const missing = entries.filter((entry) => !isRecorded(entry, stored.get(entryKey(entry))));
  if (journal && missing.length === 0) {
    const copied = archive === undefined ? '' : `; ${await copiedTo(store, archive)}`;
    return { detail: `${counted(entries.length, 'object')} recorded${copied}`, notes: { stripped: strippedIn(journal) } };
  }
  throw new Fault(
    'failed',
    `the journal does not hold what was written to it: ${missing.length} of ${counted(entries.length, 'object')} missing`,
    [text`nothing was removed; look at who else writes Secrets in kube-system, then ${AGAIN}`],
  );
}

/** Nothing reads it, so a file that cannot be written ends nothing. */
async function copiedTo(journal: Ports['journal'], file: string): Promise<string> {
  try {
    return `all of it is also in ${await journal.archive(file)}`;
  } catch (thrown) {
    if (!isRecord(thrown) || thrown.syscall === undefined) throw thrown;
    return `not copied to a file: ${messageOf(thrown)}`;
  }
}

/** The last check before references are removed: the stored journal must hold them, whatever planned the patches (§4.8/1). */
export async function assertRecorded({ journal }: Ports, { patches, recordedIn }: PatchAll): Promise<void> {
  if (recordedIn === undefined) return;
  const [first, ...more] = unrecorded(patches, (await journal.load())?.entries ?? []);
  if (!first) return;
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  throw new Fault('failed', `the journal in the cluster does not hold the owner references of ${refText(first.target)}${others}`, [
    'nothing was removed; run the same command again: it records them first',
  ]);
}

/** Archives the journal, then deletes it; nothing happens if there is none. */
export async function forgetOwners({ journal }: Ports, { file }: Extract<Effect, { type: 'forget-owners' }>): Promise<string> {
  const kept = (await journal.load()) === undefined ? undefined : await journal.archive(file);
  await journal.forget();
  return kept === undefined ? 'there was none' : `kept as ${kept}`;
}

/** Beside the backup: in the folder that was named for it, else in the work folder. */
export function archiveOf({ workFolder, options, startedAt, clusterUid }: Context): string {
  const folder = options.backupDir?.replace(/(?<=.)[/\\]+$/, '') ?? workFolder;
  return `${folder}/owner-references-${runIdOf(startedAt, clusterUid)}.json`;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'record-owners': RecordOwners;
    readonly 'forget-owners': ForgetOwners;
  }
  interface PatchAll {
    /** What is removed must be in this journal, as the cluster has it: every other patch is refused. */
    readonly recordedIn?: 'owner-journal';
  }
  interface Guards {
    readonly 'recorded-owners': PatchAll;
  }
}

export const ownerEffects: Pick<EffectTypes, 'record-owners' | 'forget-owners'> = {
  'record-owners': {
    does: 'writes',
    isFixed: false,
    perform: recordOwners,
    dryRun: announced,
    text: ({ entries, archive }) =>
      `write the owner references of ${counted(entries.length, 'object')} to the journal in the cluster, and read them back${archive === undefined ? '' : `; write all of it to ${archive}`}`,
    mask: whole,
    // A saved plan is of another time than its run, which names the file by its own.
    digest: ({ type, entries, isNote }) => ({ type, entries, isNote }),
  },
  'forget-owners': {
    does: 'writes',
    isFixed: false,
    // A journal that is wanted no more would count as lost otherwise.
    notesFirst: { stripped: undefined },
    perform: async (ports, effect) => ({ detail: await forgetOwners(ports, effect) }),
    dryRun: announced,
    text: ({ file }) => `write the journal of owner references to ${file}, then delete it from the cluster`,
    mask: whole,
    digest: ({ type }) => ({ type }),
  },
};

export const ownerGuards: Pick<GuardTypes, 'recorded-owners'> = {
  'recorded-owners': { of: 'patch-all', assert: assertRecorded },
};
