import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { TakenBack } from '../../kernel/intent.ts';
import { mapAt } from '../../kernel/json.ts';
import { type KubeObject, type ObjectChange, refOf, refText } from '../../kernel/object.ts';
import { type ChangedPlace, changedPlaces, keptChanges, standing } from '../../kernel/object-change.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Records } from '../../kernel/run-record.ts';
import { BY_FILES } from '../../kernel/undo.ts';
import { type CarriedEdits, type CarriedFile, isNeverKept, withFormer } from '../../manifest/carried-file.ts';
import type { Candidates } from '../../manifest/choose-base.ts';
import { identityOf } from '../../manifest/prepare.ts';
import { readBaseOf } from './base.ts';
import { readCarriedThen } from './carried.ts';

/** What a rollback merges: what is left is its base, and what was there before the upgrade is wanted. */
export interface WayBack {
  readonly candidates: Candidates;
  readonly wanted: readonly KubeObject[];
}

/**
 * The three-way merge of an upgrade, the other way round. The base is the release that is left, with the changes that the upgrade carried, so
 * that what differs from it was changed since. `documents`: of the release that it goes back to, as released.
 */
export async function readWayBack(
  sources: Sources,
  context: Context,
  installation: Installation,
  documents: readonly KubeObject[],
  takesBack: TakenBack,
): Promise<WayBack> {
  const { to, wrote } = takesBack;
  const [carried, left] = await Promise.all([
    readCarriedThen(sources, takesBack),
    readBaseOf(sources, { ...context, goal: { release: to } }, installation, to),
  ]);
  const former = carried?.former;
  if (!former && (carried || wrote.includes('apply'))) throw unknownFormer(to, context);
  if (former && former.release !== context.goal.release) throw otherFormer(former.release, context);
  return {
    candidates: { first: { release: to, documents: carried ? withFiles(left, carried) : left }, others: [], installed: to },
    wanted: former ? withFormer(documents, former) : documents,
  };
}

/** Edits of roles and the like are taken from the live object alone, so they count as made since. */
function withFiles(documents: readonly KubeObject[], { files }: CarriedEdits): readonly KubeObject[] {
  const all: readonly CarriedFile[] = Object.values(files);
  const changed = new Map(all.flatMap((file) => file.changed).map((object) => [identityOf(object), object]));
  const gone = new Set(all.flatMap(({ removed }) => removed));
  const own = documents.filter((one) => isNeverKept(one) || !gone.has(identityOf(one)));
  return own.map((one) => (isNeverKept(one) ? one : (changed.get(identityOf(one)) ?? one)));
}

function unknownFormer(to: string, { goal }: Context): Fault {
  return new Fault(
    'blocked',
    `the upgrade to ${to} did not keep what ${goal.release} had of yours: it was given a finished file (--upgrade-file), or had no base to tell it by (NS-205)`,
    [BY_FILES],
  );
}

function otherFormer(release: string, { goal }: Context): Fault {
  return new Fault('blocked', `your changes are kept as differences to ${release}, and this rollback goes to ${goal.release}`, [BY_FILES]);
}

/** The stage of a rollback that stops the controllers, and where a Deployment says how many there are. */
const STOP = 'rollback-stop';
const REPLICAS = '/spec/replicas';

/** The controllers as their user has them: that a rollback has stopped them is no edit. */
export async function ownStop(records: Pick<Records, 'keptWith'>, { goal }: Context): Promise<(live: KubeObject) => KubeObject> {
  const stopped = goal.takesBack ? await readStopped(records) : [];
  return (live) => {
    const ours = stopped.find((one) => refText(one.ref) === refText(refOf(live)) && standing(one, live) === 'ours');
    return ours ? { ...live, spec: { ...mapAt(live.spec), replicas: ours.before } } : live;
  };
}

/** Which Deployments a rollback has scaled to 0. */
export async function readStopped(records: Pick<Records, 'keptWith'>): Promise<readonly ChangedPlace[]> {
  return changedPlaces(await keptChanges(records, STOP, isOfReplicas));
}

/** A record is no source of objects: nothing but the number of replicas of a Deployment is taken from it. */
function isOfReplicas({ ref, before, after }: ObjectChange): boolean {
  const isReplicas = (places: ObjectChange['before']) => Object.keys(places).every((place) => place === REPLICAS);
  return ref.kind === 'Deployment' && isReplicas(before) && isReplicas(after) && Number.isSafeInteger(before[REPLICAS]);
}
