import { command } from '../../kernel/command.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import type { ChartRelease } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, objectKey, refOf, refText } from '../../kernel/object.ts';
import type { PlannedObject } from '../../kernel/plan.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { look, text } from '../../kernel/step.ts';
import { changedFields, maskChanges } from '../../manifest/definition-differences.ts';
import { objectsIn, readManifest } from '../../manifest/manifest.ts';
import { comparable } from '../../manifest/prepare.ts';
import { helmOn, runHelm, withRestarts } from '../install-manifest/index.ts';
import { attempt, liveOf } from '../survey/index.ts';
import type { ChartFacts, ChartJudged, FieldConflict } from './chart-facts.ts';
import { type HelmUpgrade, valueArgs } from './helm-argv.ts';
import { type HelmRecord, placedIn, recordedObjects } from './helm-record.ts';
import { isWritten } from './source.ts';

/** File of the values that helm keeps (0600). */
const VALUES_FILE = 'rendered-values.json';

type Ports = Pick<Sources, 'tools' | 'work'>;
type Renderable = Pick<ChartFacts, 'trial' | 'upgrade' | 'stored' | 'helm' | 'target'>;

/** The chart as the upgrade renders it, by the server or else by helm with the same values. Throws Fault if neither works. */
export async function renderedChart(ports: Ports, { trial, upgrade, stored, target, helm }: Renderable): Promise<readonly KubeObject[]> {
  if ('value' in trial && trial.value.type === 'accepted') return trial.value.documents;
  if (upgrade && 'value' in stored) return rendered(ports, upgrade, stored.value.base);
  const because = [stored, target, helm].flatMap((one) => ('unread' in one ? [one.unread] : [])).join('; ');
  throw new Fault('blocked', `the chart could not be rendered: ${because || 'its upgrade is not known'}`, [
    look(text`see why it cannot be upgraded: ${command`kubectl netsvc-upgrade preflight`}`),
  ]);
}

/** As helm renders it with the values that an upgrade keeps. */
export async function rendered({ tools, work }: Ports, upgrade: HelmUpgrade, base: HelmRecord): Promise<readonly KubeObject[]> {
  const values = await work.write(VALUES_FILE, JSON.stringify(base.values));
  const more = ['--namespace', upgrade.namespace, '--values', values, ...valueArgs(upgrade)];
  const text = await runHelm(tools, helmOn(upgrade.chart, ['template', upgrade.name], more));
  return objectsIn(await readManifest(text, 'the rendered chart')).filter(isWritten(upgrade.moves ? 'install' : 'upgrade'));
}

/** What the new revision differs in from the old one and from what others made of it in the cluster, object by object. */
export interface ChartDifference {
  readonly objects: readonly PlannedObject[];
  /** Objects that the chart tool deletes: the old revision has them and the new one does not. */
  readonly removed: readonly string[];
}

export function chartDifference(
  before: readonly KubeObject[],
  after: readonly KubeObject[],
  conflicts: readonly FieldConflict[],
): ChartDifference {
  const old = new Map(before.map((one) => [objectKey(one), one]));
  const removed = removedObjects(before, after).map((one) => refText(refOf(one)));
  const of = (one: KubeObject) => conflicts.filter(({ ref }) => isOf(ref, one));
  return { objects: after.map((one) => planned(old.get(objectKey(one)), one, of(one))), removed };
}

/** Objects of the old revision that the new one does not have, but for those that are marked to stay. */
export function removedObjects(before: readonly KubeObject[], after: readonly KubeObject[]): readonly KubeObject[] {
  const kept = new Set(after.map(objectKey));
  return before.filter((one) => !kept.has(objectKey(one)) && !staysMarked(one));
}

function staysMarked({ metadata }: KubeObject): boolean {
  return metadata.annotations?.['helm.sh/resource-policy'] === 'keep';
}

/** A chart may leave the namespace out, and means the release's. */
function isOf(ref: ObjectRef, { apiVersion, kind, metadata }: KubeObject): boolean {
  const { name, namespace = ref.namespace } = metadata;
  return ref.apiVersion === apiVersion && ref.kind === kind && ref.name === name && ref.namespace === namespace;
}

function planned(before: KubeObject | undefined, after: KubeObject, conflicts: readonly FieldConflict[]): PlannedObject {
  const taken = conflicts.flatMap(({ change: { path }, manager }) => (manager === undefined ? [] : [{ path, manager }]));
  const none = { ref: refOf(after), hidden: [], taken };
  if (!before || conflicts.some(({ change }) => change.path === '')) return { ...none, change: 'create', fields: [], bodies: { after } };
  const own = changedFields(comparable(before), comparable(after));
  // If somebody else has changed the field as well, it changes from the live value.
  const fields = [...new Map([...own, ...conflicts.map(({ change }) => change)].map((change) => [change.path, change])).values()];
  const change = fields.length > 0 ? 'update' : 'unchanged';
  const bodies = { before, after, isOfRelease: true } as const;
  return withRestarts({ ...none, change, fields: maskChanges(after, fields), bodies }, before, after);
}

const CRD = 'CustomResourceDefinition';

/** What helm would delete with its content; `base` undefined: it deletes nothing. `documents` are known once the server has accepted them. */
export async function readLost(
  cluster: ClusterReader,
  profile: Profile,
  base: HelmRecord | undefined,
  chart: () => Promise<readonly KubeObject[]>,
  documents: readonly KubeObject[] = [],
): Promise<Pick<ChartJudged, 'lostCrds' | 'lostData'>> {
  if (!base) return { lostCrds: [], lostData: { value: [] } };
  return { lostCrds: await readLostCrds(cluster, base, documents), lostData: await readLostData(cluster, profile, base, chart) };
}

/** CRDs that the new chart lacks: helm deletes them and all their objects, unless the live one is kept (domain §11.4). */
async function readLostCrds(cluster: ClusterReader, record: HelmRecord, documents: readonly KubeObject[]): Promise<readonly string[]> {
  const kept = new Set(documents.filter(({ kind }) => kind === CRD).map(({ metadata }) => metadata.name));
  const gone = recordedObjects(record).filter(({ kind, metadata }) => kind === CRD && !kept.has(metadata.name));
  const names = gone.map(({ metadata }) => metadata.name);
  if (names.length === 0) return [];
  const deleted = new Set((await listCrds(cluster)).filter((crd) => !staysMarked(crd)).map(({ metadata }) => metadata.name));
  return names.filter((name) => deleted.has(name));
}

/** CRDs of the service that another chart release says are its own. */
export async function readForeignCrds(
  cluster: ClusterReader,
  profile: Profile,
  chart: ChartRelease | undefined,
): Promise<ChartJudged['foreignCrds']> {
  const groups = [profile.crdGroup, profile.operatorGroup].map((group) => `.${group}`);
  return (await listCrds(cluster))
    .filter(({ metadata }) => groups.some((group) => metadata.name.endsWith(group)))
    .flatMap(({ metadata }) => {
      const { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace } = metadata.annotations ?? {};
      if (name === undefined || (name === chart?.name && namespace === chart.namespace)) return [];
      return [{ name: metadata.name, owner: `${namespace ?? ''}/${name}` }];
    });
}

function listCrds(cluster: ClusterReader): Promise<readonly KubeObject[]> {
  return cluster.list(K.CustomResourceDefinition, { metadataOnly: true });
}

/** Kinds with content that no chart writes again. */
const HOLDING: readonly string[] = ['Namespace', 'Secret', 'ConfigMap', 'PersistentVolumeClaim', 'PersistentVolume'];

/**
 * Objects with content that helm would delete, as the new chart no longer has them; helm keeps those whose live object is annotated.
 * `chart` is called only if the release holds such objects.
 */
async function readLostData(
  cluster: ClusterReader,
  profile: Profile,
  base: HelmRecord,
  chart: () => Promise<readonly KubeObject[]>,
): Promise<ChartJudged['lostData']> {
  const kinds = [...HOLDING, profile.operator.installationKind.kind];
  // Policies, address pools and settings of the service are data too.
  const groups = [profile.crdGroup, profile.apiGroup];
  const isHolding = ({ kind, apiVersion }: KubeObject) =>
    kinds.includes(kind) || groups.some((group) => apiVersion.startsWith(`${group}/`));
  const placed = placedIn(base.namespace);
  const held = recordedObjects(base).map(placed).filter(isHolding);
  if (held.length === 0) return { value: [] };
  return attempt(async () => {
    const stays = new Set((await chart()).map((one) => objectKey(placed(one))));
    const gone = held.filter((one) => !stays.has(objectKey(one)));
    const live = await eachOf(gone, 4, (one) => liveOf(cluster, one));
    return live.flatMap((one) => (one && !staysMarked(one) ? [refOf(one)] : []));
  });
}
