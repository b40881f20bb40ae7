import type { OwnedFate, OwnerReferences, ReferenceFate } from '../features/ownerrefs/index.ts';
import { type ExitName, Fault, messageOf } from '../kernel/fault.ts';
import { isInterrupted } from '../kernel/interruption.ts';
import { plainRef, refText } from '../kernel/object.ts';
import { type Text, text } from '../kernel/step.ts';
import { columns } from '../report/columns.ts';
import { headLine, upgradeHead } from '../report/head-line.ts';
import { type CarriedFlag, oursWith } from './carried.ts';
import { telling } from './command-names.ts';
import type { ListedReference, OwnerReferenceList } from './documents.ts';
import { documentHead } from './documents.ts';
import { present } from './output.ts';
import type { Seams } from './seams.ts';
import { type Asked, inSession, type Session } from './session.ts';

/** `ownerrefs list`: every reference to the service's resources, and whether it is removed before the upgrade; exit 3 if not everything could be searched. */
export async function runOwnerList(asked: Asked, owner: string | undefined, seams: Seams): Promise<ExitName> {
  const wanted = owner === undefined ? undefined : readOwner(owner);
  return inSession(seams, { ...asked, looksOnly: true }, async (session) => {
    const { references, source, installation } = await readAll(session);
    const rows = references.objects.flatMap(rowsOf).filter((row) => !wanted || isOwner(row, wanted));
    const broken = await session.composition.journal.load().then(
      () => undefined,
      (thrown: unknown) => brokenJournal(thrown, asked.carried),
    );
    const isRemoved = rows.some((row) => row.removal !== null);
    const next = oursWith(isRemoved ? 'ownerrefs strip --dry-run=client' : telling('readiness').id, asked.carried);
    const exit = references.unread.length > 0 ? 'blocked' : 'done';
    const document: OwnerReferenceList = {
      ...documentHead(session.context, exit, next),
      kind: 'OwnerReferenceList',
      source: source ?? null,
      references: rows,
      unread: references.unread,
    };
    const head = headLine(upgradeHead(session.context, installation), session.outPalette);
    const closing = async () => ['Nothing was changed by this command.'];
    await present(session, document, (wide) => [head, ...listLines(rows, wide, references.unread.length === 0)], { closing });
    if (broken !== undefined) session.say(`Warning: ${session.errPalette.said(broken)}`);
    for (const { kind, because } of references.unread) session.say(`Warning: ${kind} could not be searched: ${because}`);
    return exit;
  });
}

async function readAll({ composition, context, asked }: Session) {
  const [{ readInstalled }, { readReferences, sourceOf, wayOf }] = await Promise.all([
    import('../features/survey/detect.ts'),
    import('../features/ownerrefs/references.ts'),
  ]);
  const installation = await readInstalled(composition, context);
  const record = await composition.records.load();
  const source = sourceOf(installation, record, context);
  const { namespace } = asked.flags;
  const way = wayOf(record, installation, context);
  const scope = { namespace };
  const references: OwnerReferences = await readReferences(composition.cluster, context, way, scope);
  return { references, source, installation };
}

/** What is listed does not hang on the journal. */
function brokenJournal(thrown: unknown, carried: readonly CarriedFlag[]): Text {
  if (isInterrupted(thrown)) throw thrown;
  return text`${messageOf(thrown)} (${oursWith('ownerrefs restore --dry-run=client', carried)})`;
}

function readOwner(text: string): readonly [kind: string, name: string] {
  const [kind, name, ...rest] = text.split('/');
  if (kind && name && rest.length === 0) return [kind.toLowerCase(), name];
  throw new Fault('usage', `--owner=${text} is not KIND/NAME`, ['write it as --owner=NetworkSet/frontends']);
}

function isOwner({ owner }: ListedReference, [kind, name]: readonly [kind: string, name: string]): boolean {
  return owner.kind.toLowerCase() === kind && owner.name === name;
}

function rowsOf({ owned: { object }, fates }: OwnedFate): readonly ListedReference[] {
  return fates.map((fate) => ({
    object: plainRef(object),
    owner: fate.reference,
    exists: fate.isUnread ? null : fate.servedUid !== undefined,
    uidCurrent: fate.isUnread ? null : fate.servedUid === fate.reference.uid,
    removal: fate.removal ?? null,
  }));
}

const REMOVED: Readonly<Record<NonNullable<ReferenceFate['removal']>, string>> = {
  'stored-name': 'policy stored under another name',
  'uid-change': 'UIDs change',
  'key-value': 'procedure (UIDs stay)',
  'stored-uid': 'has the stored UID',
};

const yes = (value: boolean | null) => (value === null ? '?' : value ? 'yes' : 'no');

function listLines(rows: readonly ListedReference[], wide: boolean, isWhole: boolean): readonly string[] {
  if (rows.length === 0 && !isWhole) return ['no owned object was found, and not everything could be searched'];
  if (rows.length === 0) return ['no object is owned by a resource of the service'];
  const head = ['OBJECT', 'OWNER', 'EXISTS', 'CURRENT', 'REMOVED FOR'];
  const more = ['CONTROLLER', 'BLOCKS', 'GROUP', 'UID'];
  return columns([
    wide ? [...head, ...more] : head,
    ...rows.map((row) => {
      const { object, owner, exists, uidCurrent, removal } = row;
      const short = [refText(object), `${owner.kind}/${owner.name}`, yes(exists), yes(uidCurrent), removal ? REMOVED[removal] : 'no'];
      if (!wide) return short;
      return [...short, yes(owner.controller ?? false), yes(owner.blockOwnerDeletion ?? false), owner.apiVersion, owner.uid];
    }),
  ]);
}
