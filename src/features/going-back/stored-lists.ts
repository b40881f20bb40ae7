import { eachOf } from '../../kernel/each-of.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';

/** The stored objects of the service, of the kinds that are meant; `keep`: what of each is held. */
export async function listedOf(
  cluster: Pick<ClusterReader, 'discover' | 'list'>,
  crdGroup: string,
  isMeant: (kind: string, plural: string) => boolean,
  keep: (object: KubeObject) => KubeObject,
): Promise<readonly KubeObject[]> {
  return listed(
    cluster,
    ({ group, plural, kind }) => group === crdGroup && isMeant(kind, plural),
    () => keep,
  );
}

/** The same of any group; what is held of each depends on its kind. */
export async function listed(
  cluster: Pick<ClusterReader, 'discover' | 'list'>,
  isMeant: (kind: Kind) => boolean,
  keepOf: (kind: Kind) => (object: KubeObject) => KubeObject,
): Promise<readonly KubeObject[]> {
  const { kinds } = await cluster.discover();
  const asked = kinds.filter((kind) => !kind.plural.includes('/') && isMeant(kind));
  return (await eachOf(asked, 4, (kind) => cluster.list(kind, { keep: keepOf(kind) }))).flat();
}
