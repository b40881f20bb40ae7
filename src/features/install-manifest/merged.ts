import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { type KubeObject, objectKey } from '../../kernel/object.ts';
import type { TakenChange } from '../../kernel/plan.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { imageRelease, isOlder } from '../../kernel/release.ts';
import { continues, type RunRecord, resumedBackwards } from '../../kernel/run-record.ts';
import { findLeftovers, type Leftover } from '../../manifest/leftovers.ts';
import { changesSince, type LaterChange, takenChanges } from '../../manifest/taken-fields.ts';
import { attempt, isImageOf, writesAgain } from '../survey/index.ts';
import { NoBase, readBaseOf } from './base.ts';
import { withCarried } from './carried.ts';
import { baseNote, type EditSurvey, readEdits } from './edits.ts';
import { finishedFile } from './finished.ts';
import { refuseOtherFiles, withGivenEndpoints } from './given.ts';
import type { Target } from './identity.ts';
import type { PreviewedObject } from './outcome.ts';
import { NO_ORPHANS, type Orphans, orphansBetween } from './own-objects.ts';
import { previewDocuments } from './preview.ts';
import { readReleasedTarget, readTarget, targetDocuments } from './target.ts';

/** The target as it will be applied, and what applying it will do. */
export interface MergedTarget {
  readonly target: Target;
  readonly edits: Reading<EditSurvey>;
  /** One per document of the target, in its order. */
  readonly previews: readonly PreviewedObject[];
  /** What others set in the cluster, cannot be carried, and would be written over. */
  readonly untold: readonly TakenChange[];
}

/** The target with the user's edits in it. Edits are found before the first write only; a resumed run uses the kept ones. */
export async function readMergedTarget(
  sources: Sources,
  context: Context,
  installation: Installation,
  record: RunRecord | undefined,
): Promise<MergedTarget> {
  const begun = await readTarget(sources, context, installation);
  const resumed = resumedBackwards(record, context);
  const since = resumed?.startedAt ?? (continues(record, context) ? record.startedAt : undefined);
  const goesOn = since === undefined ? undefined : begun.carried;
  if (goesOn) {
    refuseOtherDecisions(begun, context);
    await refuseOtherFiles(sources, context, installation, goesOn);
  }
  const { target: recorded, before } = await withGivenEndpoints(sources, context, installation, begun);
  if (goesOn || finishedFile(context) !== undefined) {
    const previews = await previewsOf(sources.cluster, recorded, context);
    const untold = since === undefined ? [] : laterChanges(previews, since);
    const left = goesOn && (await readLeftBehind(sources, context, installation, goesOn.base));
    return { target: recorded, edits: { value: settled(recorded, left, before) }, previews, untold };
  }
  if (installation.release === context.goal.release) {
    const previews = await previewsOf(sources.cluster, recorded, context);
    const isThere = previews.every(({ planned }) => planned.change === 'unchanged');
    if (isThere) return { target: recorded, edits: { value: settled(recorded) }, previews, untold: [] };
  }
  const released = await readReleasedTarget(sources, context, installation);
  const edits = await withBase(() => readEdits(sources, context, installation, released, record));
  const carried = 'value' in edits ? edits.value.carried : undefined;
  const target = carried ? withCarried(released, carried) : released;
  const previews = await previewsOf(sources.cluster, target, context);
  return { target, edits, previews, untold: untoldChanges(edits, previews) };
}

/** Without the manifest of a release this reading has failed. */
async function withBase<T>(work: () => Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    if (thrown instanceof NoBase) return { unread: thrown.message };
    throw thrown;
  }
}

/** Only a notice of the plan needs it: if its files cannot be read, a begun run continues. */
async function readLeftBehind(...of: Parameters<typeof leftBehind>): Promise<Reading<Orphans>> {
  const read = await withBase(() => attempt(() => leftBehind(...of)));
  return 'value' in read ? read.value : read;
}

/** What the target as released leaves behind; an object that only our file omits (a filled Secret) is no orphan. */
async function leftBehind(sources: Sources, context: Context, installation: Installation, base: string): Promise<Orphans> {
  const documents = await readBaseOf(sources, context, installation, base);
  const target = targetDocuments(await readReleasedTarget(sources, context, installation));
  return orphansBetween(sources.cluster, documents, target);
}

/** What the user fixed since the run began, which its edits lack. Definitions always come from the target. */
function laterChanges(previews: readonly PreviewedObject[], since: string): readonly LaterChange[] {
  return previews.flatMap(({ document, live, planned }) => {
    if (!live || document.kind === 'CustomResourceDefinition') return [];
    const isOfOneWhoReturns = ({ manager, subresource }: LaterChange) =>
      planned.takers?.some((one) => one.manager === manager && one.subresource === subresource && writesAgain(one)) === true;
    return changesSince(live, planned, since).filter((change) => !isOfOneWhoReturns(change));
  });
}

/** Fields of others that would be written over, of objects whose changes in the cluster cannot be told from defaults. */
function untoldChanges(edits: Reading<EditSurvey>, previews: readonly PreviewedObject[]): readonly TakenChange[] {
  const unsure = 'value' in edits ? edits.value.untold : new Set<string>();
  return previews.filter(({ document }) => unsure.has(objectKey(document))).flatMap(({ planned }) => takenChanges(planned));
}

async function previewsOf(cluster: ClusterReader, target: Target, context: Context): Promise<readonly PreviewedObject[]> {
  const previews: PreviewedObject[] = [];
  for (const { manifest } of [target, ...target.addOns])
    previews.push(...(await previewDocuments(cluster, manifest, leftoversIn(context))));
  return previews;
}

/** `before`: the endpoints that the run began with, where others are given now. */
function settled({ carried }: Target, left: Reading<Orphans> = { value: NO_ORPHANS }, before?: string): EditSurvey {
  return {
    edits: carried?.edits ?? [],
    conflicts: [],
    bases: carried ? [carried.base] : [],
    notes: [
      ...(carried ? [baseNote(carried.base)] : []),
      ...(before === undefined ? [] : [`${OTHER_ENDPOINTS} ${before}`]),
      ...('unread' in left ? [`what the target leaves behind is not known: ${left.unread}`] : []),
    ],
    orphans: 'value' in left ? left.value : NO_ORPHANS,
    untold: new Set(),
    ...(carried ? { carried } : {}),
    ...(before === undefined ? {} : { anew: true }),
  };
}

const OTHER_ENDPOINTS =
  'the endpoints of the key-value store are the ones given now; pods that are new already keep the old ones until they are restarted:';

/** Part of the cluster may already run what was decided then. */
function refuseOtherDecisions({ carried }: Target, { options }: Context): void {
  const [field, side] = Object.entries(options.resolutions ?? {}).find(([one, to]) => carried?.resolutions[one] !== to) ?? [];
  if (field === undefined) return;
  throw new Fault(
    'usage',
    `--resolve ${field}=${side}: this run has begun to write with ${carried?.resolutions[field] ?? 'no decision'} there`,
    ['leave it out to finish the run, then change the field itself'],
  );
}

/** What the old release left in a live object that the target's has not. */
export function leftoversIn({ profile, goal }: Context): (live: KubeObject, document: KubeObject) => readonly Leftover[] {
  const { agent, cni, controllers, typha, apiserver, csi } = profile.images;
  const own = [...agent, ...cni, ...controllers, ...typha, ...apiserver, ...csi];
  const isOldImage = (image: string) => {
    const release = imageRelease(image);
    return isImageOf(image, own) && release !== undefined && isOlder(release, goal.release);
  };
  return (live, document) => findLeftovers(live, document, profile, isOldImage);
}
