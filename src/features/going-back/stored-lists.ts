import { eachOf } from '../../kernel/each-of.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';

/** The stored objects of the service, of the kinds that are meant; `keep`: what of each is held. */
export async function listedOf(
  cluster: Pick<ClusterReader, 'discover' | 'list'>,
  crdGroup: string,
  isMeant: (kind: string, plural: string) => boolean,
  keep: (object: KubeObject) => KubeObject,
): Promise<readonly KubeObject[]> {
  const { kinds } = await cluster.discover();
  const asked = kinds.filter(({ group, plural, kind }) => group === crdGroup && !plural.includes('/') && isMeant(kind, plural));
  return (await eachOf(asked, 4, (kind) => cluster.list(kind, { keep }))).flat();
}
