import { type Context, goingTo } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { TakenBack } from '../../kernel/intent.ts';
import { mapAt } from '../../kernel/json.ts';
import { type KubeObject, type ObjectChange, refOf, refText } from '../../kernel/object.ts';
import { type ChangedPlace, changedPlaces, keptChanges, runOf, standing } from '../../kernel/object-change.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Records } from '../../kernel/run-record.ts';
import { type CarriedEdits, type CarriedFile, isNeverKept, withFormer } from '../../manifest/carried-file.ts';
import type { Candidates } from '../../manifest/choose-base.ts';
import { identityOf } from '../../manifest/prepare.ts';
import { attempt } from '../survey/index.ts';
import { readBaseOf } from './base.ts';
import { readFormer } from './kept-edits.ts';

/** What a rollback merges: what is left is its base, and what was there before the upgrade is wanted. */
export interface WayBack {
  readonly candidates: Candidates;
  readonly wanted: readonly KubeObject[];
  /** Of the release that was left, where that is no base: some of it may be there still. */
  readonly left?: readonly KubeObject[];
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
  const { to, isOver } = takesBack;
  const { release } = context.goal;
  const own: WayBack = { candidates: { first: { release, documents }, others: [], installed: release }, wanted: documents };
  const readLeft = () => readBaseOf(sources, goingTo(context, to), installation, to);
  if (isOver) {
    assertStillBack(installation, release);
    const left = await attempt(readLeft);
    return { ...own, left: 'value' in left ? left.value : [] };
  }
  const carried = await readFormer(sources.records, takesBack);
  // The upgrade has not come to the manifest: what is there is the release that it goes back to, and what differs from that is yours.
  if (!carried) return own;
  const left = await readLeft();
  return {
    candidates: { first: { release: to, documents: withFiles(left, carried) }, others: [], installed: to },
    wanted: withFormer(documents, carried.former),
  };
}

/** Somebody who applied the newer release again keeps no record: none of its fields could be told from the user's own. */
function assertStillBack({ release }: Installation, back: string): void {
  if (release === undefined || release === back) return;
  throw new Fault('blocked', `the rollback to ${back} is over, and ${release} is installed again: nothing is recorded of who did that`, [
    'revert it where it was applied from (Git, a manifest)',
  ]);
}

/** Edits of roles and the like are taken from the live object alone, so they count as made since. */
function withFiles(documents: readonly KubeObject[], { files }: CarriedEdits): readonly KubeObject[] {
  const all: readonly CarriedFile[] = Object.values(files);
  const changed = new Map(all.flatMap((file) => file.changed).map((object) => [identityOf(object), object]));
  const gone = new Set(all.flatMap(({ removed }) => removed));
  const own = documents.filter((one) => isNeverKept(one) || !gone.has(identityOf(one)));
  return own.map((one) => (isNeverKept(one) ? one : (changed.get(identityOf(one)) ?? one)));
}

/** The stage of a rollback that stops the controllers, and where a Deployment says how many there are. */
const STOP = 'rollback-stop';
const REPLICAS = '/spec/replicas';

/** The controllers as their user has them: that a rollback has stopped them is no edit. */
export async function ownStop(records: Pick<Records, 'keptWith'>, { goal }: Context): Promise<(live: KubeObject) => KubeObject> {
  const stopped = goal.takesBack && !goal.takesBack.isOver ? await readStopped(records, goal.takesBack) : [];
  return (live) => {
    const ours = stopped.find((one) => refText(one.ref) === refText(refOf(live)) && standing(one, live) === 'ours');
    return ours ? { ...live, spec: { ...mapAt(live.spec), replicas: ours.before } } : live;
  };
}

/** Which Deployments a rollback of this upgrade has scaled to 0: one that was stopped in an earlier round may be at 0 by the user's wish. */
export async function readStopped(
  records: Pick<Records, 'keptWith'>,
  { runId, since = runId }: Pick<TakenBack, 'runId' | 'since'>,
): Promise<readonly ChangedPlace[]> {
  return changedPlaces((await keptChanges(records, STOP, isOfReplicas)).filter((one) => runOf(one) >= since));
}

/** A record is no source of objects: nothing but the number of replicas of a Deployment is taken from it. */
function isOfReplicas({ ref, before, after }: ObjectChange): boolean {
  const isReplicas = (places: ObjectChange['before']) => Object.keys(places).every((place) => place === REPLICAS);
  return ref.kind === 'Deployment' && isReplicas(before) && isReplicas(after) && Number.isSafeInteger(before[REPLICAS]);
}
