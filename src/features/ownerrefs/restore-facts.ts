import type { GuardedPatch } from '../../kernel/action.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Journal, JournalEntry } from '../../kernel/journal.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { look, text } from '../../kernel/step.ts';
import type { PoliciesSettled } from '../policies/index.ts';
import { readInstalled, replacesApi, resourcesOf } from '../survey/index.ts';
import { entryKey, type JournalOwner, kindOf, strayReference } from './journal-entries.ts';
import { muteOwners, type RestoreJudged, withMute } from './owner-facts.ts';
import type { ReferenceFate } from './owner-fate.ts';
import { byKey } from './owner-strip.ts';
import { deadIn, lackingOf, readReferences, wayOf } from './references.ts';
import { judgeEntries } from './restore-judge.ts';
import { readRecorded } from './restore-live.ts';
import { ownerText } from './restore-owners.ts';
import { type Awaited, readReadiness, type UpgradeWaits } from './restore-ready.ts';
import { kindText } from './survey.ts';
import { readOwnerWorld } from './world.ts';

export interface RestoreFacts extends RestoreJudged {
  readonly journal?: Journal;
  /** Why the stage does nothing now. */
  readonly skip?: string;
  /** Only planned, before the upgrade: what is removed then will be put back. */
  readonly isLater: boolean;
  /** What has to come first; nothing else is known before. */
  readonly waits: readonly Awaited[];
  readonly waitMs: number;
  readonly settled?: PoliciesSettled;
  readonly patches: readonly GuardedPatch[];
  /** Entries with what is back once the patches are through, where the journal does not say so yet. */
  readonly noted: readonly JournalEntry[];
}

const NOTHING = {
  idle: true,
  unread: [],
  ownerGone: [],
  changed: [],
  otherOwners: [],
  someAsExpected: false,
  unaddressed: [],
  neverRenamed: false,
  hold: undefined,
  namingHeld: 0,
  manifests: [],
  finalizers: [],
  outstanding: 0,
  stayOff: [],
  asBefore: false,
  unreadRecorded: [],
  dangling: [],
  isLater: false,
  waits: [],
  waitMs: 0,
  patches: [],
  noted: [],
} as const satisfies RestoreFacts;

/** Stages that change what restoring depends on: while they are only planned, nothing can be said. */
const BEFORE: readonly string[] = ['ownerrefs-strip', 'rollback-stop', 'rollback-labels', 'rollback-names', 'crds', 'apply', 'wait'];

/** What is recorded as removed, what can be put back now, and what stands in the way (§4.8/3). `upgradeWaits`: absent for the undo. */
export async function readRestoreFacts(sources: Sources, context: Context, upgradeWaits?: UpgradeWaits): Promise<RestoreFacts> {
  const isUndo = upgradeWaits === undefined;
  const journal = await sources.journal.load();
  const record = await sources.records.load();
  const lacking = lackingOf(record, journal, context);
  if (!journal) return { ...NOTHING, ...lacking, skip: `no owner reference is recorded as removed in namespace ${STATE_NAMESPACE}` };
  assertOwnGroups(journal, context);
  assertOwnOwners(journal, context);
  assertRecorded(journal, context);
  if (context.chain?.pending.some((id) => BEFORE.includes(id))) return { ...NOTHING, ...lacking, journal, isLater: true };
  const installation = await readInstalled(sources, context);
  const hasBegun = replacesApi(record, context);
  if (isUndo && hasBegun) throw tooLateToUndo(context);
  const { waits, waitMs, settled } = await readReadiness(sources, context, installation, upgradeWaits);
  const found = { journal, ...lacking };
  // Whoever decided against the upgrade ends the journal before it.
  const asBefore = waits.length > 0 && context.options.forgetOwners === true && !hasBegun;
  if (waits.length > 0 && !isUndo && !asBefore) return { ...NOTHING, ...found, waits, waitMs };
  const way = wayOf(record, installation, context);
  const [{ world, unread, unreadOwners }, { entries, live }, listed] = await Promise.all([
    readOwnerWorld(sources.cluster, context, journal.entries.map(onlyRemoved), way),
    readRecorded(sources.cluster, journal, context),
    readReferences(sources.cluster, context, way),
  ]);
  const [mute, references] = await Promise.all([
    muteOwners(sources.cluster, entries, world, !isUndo && !asBefore),
    withMute(sources.cluster, listed),
  ]);
  const restored = judgeEntries(
    entries,
    {
      live: live.found,
      muteObjects: live.mute ?? new Set(),
      world,
      mute,
      unread: new Set([...unreadOwners, ...live.unread.map(({ kind }) => kind)]),
      asBefore: isUndo || asBefore,
    },
    context,
  );
  // UIDs have changed in any case: only what is found after the wait counts as back.
  if (asBefore && restored.otherOwners.length > 0) return { ...NOTHING, ...found, waits, waitMs };
  const allUnread = [...unread, ...live.unread, ...references.unread];
  const recorded = kindsOf(journal);
  // A policy that was stored again is in the journal under its old name, and perhaps under its new one, too.
  const known = byKey(journal.entries);
  const unreadRecorded = [...unread, ...live.unread, ...references.unread.filter(({ kind }) => recorded.has(kind))];
  return {
    ...restored,
    manifests: way.keepsUids ? [] : restored.manifests,
    noted: restored.noted.filter((entry) => known.get(entryKey(entry))?.references === entry.references),
    ...found,
    idle: false,
    unread: [...new Map(allUnread.map((one) => [one.kind, one])).values()],
    unreadRecorded: [...new Set(unreadRecorded.map(({ kind }) => kind))],
    finalizers: await missingFinalizers(sources, restored.blocking),
    dangling: deadIn(references, journal.entries),
    neverRenamed: settled === undefined,
    hold: settled?.hold,
    namingHeld: references.objects.filter(({ fates }) => fates.some(namesHeld)).length,
    asBefore,
    isLater: false,
    waits: [],
    waitMs,
    ...(settled && !isUndo ? { settled } : {}),
  };
}

/** It names a policy that is stored again as soon as nobody holds that. */
function namesHeld({ removal, reference, servedUid }: ReferenceFate): boolean {
  return removal === 'stored-name' && reference.uid === servedUid;
}

/** Under another profile's groups no owner would be found, and all would count as gone. */
function assertOwnGroups({ entries, profile: written, readFrom }: Journal, { profile }: Context): void {
  const groups = new Set(entries.flatMap(({ owners }) => owners.map(({ group }) => group)));
  const foreign = [...groups].filter((group) => group !== profile.apiGroup && group !== profile.crdGroup);
  if (foreign.length === 0) return;
  throw new Fault(
    'blocked',
    `the journal in ${readFrom} is of profile ${written}: it names owners of ${foreign.join(', ')}, which profile ${profile.name} does not know`,
    [`name the profile under which the references were removed: --profile ${written}`],
  );
}

/** Digests and numbers can be forged too; a reference that does not name its owner would get its object deleted. */
function assertOwnOwners({ entries, readFrom }: Journal, { profile }: Context): void {
  const stray = strayReference(entries, profile);
  if (stray === undefined) return;
  const { object, reference, owner } = stray;
  throw new Fault(
    'stale',
    `the journal in ${readFrom} was changed by somebody else: of ${refText(object)} it records owner ${ownerText(owner)} of ${owner.group}, and the reference that it holds names ${reference.apiVersion} ${reference.kind}/${reference.name}`,
    [
      'nothing is put back from it: this reference would get the object deleted',
      `find out who may write Secrets in namespace ${STATE_NAMESPACE}, and what else was written there`,
      'then check and put back each reference yourself: docs/reference/journal.md, Manual recovery',
    ],
  );
}

/** A decision about an owner without a record is a slip: ignored, it would change nothing. */
function assertRecorded({ entries, readFrom }: Journal, { options }: Context): void {
  const recorded = new Set(entries.flatMap(({ owners }) => owners.map(ownerText)));
  for (const [name, choice] of Object.entries(options.ownerChoices ?? {})) {
    if (recorded.has(name)) continue;
    const some = [...recorded].slice(0, SHOWN_OWNERS).join(', ');
    throw new Fault('usage', `--resolve ${name}=${choice}: the journal in ${readFrom} records no owner of this name`, [
      `name one as it is recorded: ${some}${recorded.size > SHOWN_OWNERS ? ` and ${recorded.size - SHOWN_OWNERS} more` : ''}`,
      look(text`see which of them need a decision (NS-746): ${command`kubectl netsvc-upgrade ownerrefs restore --dry-run=server`}`),
    ]);
  }
}

const SHOWN_OWNERS = 5;

/** The UIDs may still be the old ones, and change any moment: controllers that rename policies may already be on their way. */
function tooLateToUndo({ goal }: Context): Fault {
  return new Fault(
    'blocked',
    `the upgrade to ${goal.release} has begun: the old UIDs become invalid soon, and garbage collection then deletes what names them`,
    [
      text`finish the upgrade: ${command`kubectl netsvc-upgrade run`}`,
      text`then put the references back: ${command`kubectl netsvc-upgrade ownerrefs restore`}, without --undo`,
    ],
  );
}

/** Kinds and groups of the recorded objects, as a search names what it could not read. */
function kindsOf({ entries }: Journal): ReadonlySet<string> {
  return new Set(entries.map(kindOf).flatMap((kind) => [kindText(kind), kind.group]));
}

/** Only the owners of removed places are looked up. */
function onlyRemoved({ object, references, removed }: JournalEntry) {
  return { object, references: references.filter((_, place) => removed.includes(place)) };
}

async function missingFinalizers({ cluster }: Sources, owners: readonly JournalOwner[]): Promise<readonly string[]> {
  if (owners.length === 0) return [];
  const { kinds } = await cluster.discover();
  const wanted = owners.flatMap(({ group, kind }) => resourcesOf(kinds, group, kind));
  const answers = await cluster.reviewAccess(
    wanted.map(({ group, plural }) => ({ verb: 'update', group, resource: plural, subresource: 'finalizers' })),
  );
  return wanted.filter((_, index) => answers[index] === false).map(({ group, plural }) => `${plural}.${group}`);
}
