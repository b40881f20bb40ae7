import type { ChartRelease } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseManifest } from '../../manifest/manifest.ts';
import type { ChartJudged } from './chart-facts.ts';
import type { HelmRecord } from './helm-record.ts';

const CRD = 'CustomResourceDefinition';

/**
 * CRDs among the objects of the release that the new chart no longer has: the chart tool deletes them, and with them every object of
 * their kinds, unless the live one is marked to be kept (domain §11.4).
 */
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
