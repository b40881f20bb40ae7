import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { parseImage } from '../../kernel/release.ts';
import { isPerson, referenceWriter } from '../../kube/managed-fields.ts';
import { attempt, containersOf, shapeOf } from '../survey/index.ts';
import { kindOf } from './journal-entries.ts';
import type { OwnersJudged, PausableController } from './owner-facts.ts';
import type { OwnedFate } from './owner-fate.ts';
import { readRights } from './owner-rights.ts';
import { byKey, cameBack } from './owner-strip.ts';
import { readOwnersJudged } from './references.ts';

/** Objects whose managed fields are read: one controller writes many, and its name is wanted, not theirs. */
const ASKED = 20;
const CONCURRENT_READS = 8;

/** What must be known right before a write that changes UIDs: a removed reference that came back, and who put it back. */
export async function readOwnersAtDeadline(sources: Sources, context: Context, installation: Installation): Promise<OwnersJudged> {
  return withReturned(sources.cluster, await readOwnersJudged(sources, context, installation));
}

/** The same with who put back what was off: the field managers of the first such objects, and the workloads that go by these names. */
export async function withReturned(cluster: Pick<ClusterReader, 'get' | 'list'>, judged: OwnersJudged): Promise<OwnersJudged> {
  const { references, recorded } = judged;
  if (!references || recorded.length === 0) return judged;
  const journal = byKey(recorded);
  const isBack = ({ owned, fates }: OwnedFate) => fates.some(({ removal, reference }) => removal && cameBack(owned, reference, journal));
  if (!references.objects.some(isBack)) return judged;
  const objects = await withWriters(cluster, references.objects, isBack);
  return { ...judged, references: { ...references, objects }, controllers: await controllersOf(cluster, objects) };
}

/** The same with who wrote what is removed, and with what this account lacks to remove it and to put it back. */
export async function withRights(
  cluster: Pick<ClusterReader, 'get' | 'discover' | 'reviewAccess' | 'dryRunCreate'>,
  judged: OwnersJudged,
): Promise<OwnersJudged> {
  const { references } = judged;
  if (!references) return judged;
  const [objects, rights] = await Promise.all([
    withWriters(cluster, references.objects, ({ fates }) => fates.some(({ removal }) => removal)),
    readRights(cluster, references.objects),
  ]);
  return { ...judged, references: { ...references, objects }, rights };
}

/** Field managers of the references of the first objects that are asked for: the search leaves managed fields out. */
async function withWriters(
  cluster: Pick<ClusterReader, 'get'>,
  objects: readonly OwnedFate[],
  isAsked: (one: OwnedFate) => boolean,
): Promise<readonly OwnedFate[]> {
  const asked = objects.filter(isAsked).slice(0, ASKED);
  const named = await eachOf(asked, CONCURRENT_READS, async (one) => [one, await withWriter(cluster, one)] as const);
  const known = new Map(named);
  return objects.map((one) => known.get(one) ?? one);
}

async function controllersOf(cluster: Pick<ClusterReader, 'list'>, objects: readonly OwnedFate[]): Promise<readonly PausableController[]> {
  const managers = new Set(objects.flatMap(({ fates }) => fates.flatMap(({ writtenBy }) => writtenBy?.manager ?? [])));
  const tools = [...managers].filter((manager) => !isPerson(manager));
  return controllersNamed(cluster, tools);
}

/** An unreadable or replaced object keeps its entry: the name only helps. */
async function withWriter(cluster: Pick<ClusterReader, 'get'>, one: OwnedFate): Promise<OwnedFate> {
  const { object } = one.owned;
  const reading = await attempt(() => cluster.get(kindOf({ object }), object.name, object.namespace));
  const metadata = 'value' in reading ? reading.value?.metadata : undefined;
  if (metadata?.uid !== object.uid) return one;
  const fates = one.fates.map((fate) => {
    const writtenBy = referenceWriter(metadata.managedFields, fate.reference.uid);
    return writtenBy ? { ...fate, writtenBy } : fate;
  });
  return { ...one, fates };
}

/** Workloads that can be scaled to 0. */
const SCALED: readonly Kind[] = [K.Deployment, K.StatefulSet];

/**
 * Workloads that may be the controllers behind these field managers. A client's manager is its program's name by default, and operators use
 * their own, as do their Deployment, container or image.
 */
async function controllersNamed(cluster: Pick<ClusterReader, 'list'>, managers: readonly string[]): Promise<readonly PausableController[]> {
  if (managers.length === 0) return [];
  const lists = await Promise.all(SCALED.map((kind) => attempt(() => cluster.list(kind))));
  return lists.flatMap((list) => ('value' in list ? list.value : [])).flatMap((one) => controllerOf(one, managers));
}

function controllerOf(workload: KubeObject, managers: readonly string[]): readonly PausableController[] {
  const { kind, metadata } = workload;
  const replicas = shapeOf(workload).spec?.replicas ?? 1;
  const names = namesOf(workload);
  const manager = managers.find((one) => names.includes(one));
  if (manager === undefined || replicas === 0) return [];
  return [{ manager, kind, namespace: metadata.namespace ?? '', name: metadata.name, replicas }];
}

function namesOf(workload: KubeObject): readonly string[] {
  const ofContainers = containersOf(workload).flatMap(({ name, image = '', command: [program = ''] = [] }) => [
    name,
    parseImage(image).name,
    lastOf(program),
  ]);
  return [workload.metadata.name, ...ofContainers];
}

const lastOf = (path: string): string => path.split('/').at(-1) ?? '';
