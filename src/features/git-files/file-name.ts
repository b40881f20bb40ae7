import { groupOf, type KubeObject } from '../../kernel/object.ts';
import { sha256Of } from '../../kube/sha256.ts';

/** Of objects without a namespace; no namespace has such a name. */
const CLUSTER = '_cluster';

/** What every file system takes as it is, and no part of which leads to another folder. */
const PLAIN = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const LONGEST = 180;

/**
 * Where an object stands in the folder: `kube-system/daemonset-calico-node.yaml`. Names come from the cluster or from somebody's file: what
 * is not plain in one is replaced, and the sum of the name itself tells it from others. Kinds that Kubernetes does not define have their
 * group, for two groups have a NetworkPolicy.
 */
export async function fileName({ apiVersion, kind, metadata }: Pick<KubeObject, 'apiVersion' | 'kind' | 'metadata'>): Promise<string> {
  const group = groupOf(apiVersion);
  const isOwn = group === '' || !group.includes('.') || group.endsWith('.k8s.io');
  const folder = metadata.namespace ? await plain(metadata.namespace) : CLUSTER;
  const type = kind.toLowerCase();
  return `${folder}/${await plain(isOwn ? type : `${type}.${group}`)}-${await plain(metadata.name)}.yaml`;
}

async function plain(name: string): Promise<string> {
  if (PLAIN.test(name) && name.length <= LONGEST) return name;
  const kept = name
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '_')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, LONGEST);
  return `${kept}-${(await sha256Of(name)).slice(0, 8)}`.replace(/^-/, '');
}
