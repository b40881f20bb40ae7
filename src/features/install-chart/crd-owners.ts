import type { Context } from '../../kernel/context.ts';
import type { ChartRelease } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, objectKey, refOf } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseManifest } from '../../manifest/manifest.ts';
import { attempt, eachOf } from '../survey/index.ts';
import type { ChartJudged } from './chart-facts.ts';
import type { HelmRecord } from './helm-record.ts';

const CRD = 'CustomResourceDefinition';

/** CRDs that the new chart lacks: helm deletes them and all their objects, unless the live one is kept (domain §11.4). */
export async function readLostCrds(
  cluster: ClusterReader,
  record: HelmRecord,
  documents: readonly KubeObject[],
): Promise<readonly string[]> {
  const kept = new Set(documents.filter(({ kind }) => kind === CRD).map(({ metadata }) => metadata.name));
  const names = parseManifest(record.manifest, 'the stored release')
    .documents.filter(({ object }) => object.kind === CRD && !kept.has(object.metadata.name))
    .map(({ object }) => object.metadata.name);
  if (names.length === 0) return [];
  const live = new Map((await listCrds(cluster)).map((crd) => [crd.metadata.name, crd]));
  return names.filter((name) => {
    const crd = live.get(name);
    return crd !== undefined && crd.metadata.annotations?.['helm.sh/resource-policy'] !== 'keep';
  });
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
 * `rendered` is called only if the release holds such objects.
 */
export async function readLostData(
  cluster: ClusterReader,
  { profile }: Pick<Context, 'profile'>,
  base: HelmRecord,
  rendered: () => Promise<readonly KubeObject[]>,
): Promise<ChartJudged['lostData']> {
  const kinds = [...HOLDING, profile.operator.installationKind.kind];
  // Policies, address pools and settings of the service are data too.
  const groups = [profile.crdGroup, profile.apiGroup];
  const isHolding = ({ kind, apiVersion }: KubeObject) =>
    kinds.includes(kind) || groups.some((group) => apiVersion.startsWith(`${group}/`));
  const placed = (one: KubeObject) => ({ ...one, metadata: { namespace: base.namespace, ...one.metadata } });
  const held = parseManifest(base.manifest, 'the stored release')
    .documents.map(({ object }) => placed(object))
    .filter(isHolding);
  if (held.length === 0) return { value: [] };
  return attempt(async () => {
    const stays = new Set((await rendered()).map((one) => objectKey(placed(one))));
    const gone = held.filter((one) => !stays.has(objectKey(one)));
    const lost = await eachOf(gone, 4, async ({ apiVersion, kind: name, metadata }) => {
      const kind = await cluster.resolve(apiVersion, name);
      const live = kind && (await cluster.get(kind, metadata.name, kind.namespaced ? metadata.namespace : undefined));
      return live && live.metadata.annotations?.['helm.sh/resource-policy'] !== 'keep' ? [refOf(live)] : [];
    });
    return lost.flat();
  });
}
