import { mapAt, textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject, OwnerReference } from '../../kernel/object.ts';
import type { PlannedObject, PodsAnswer } from '../../kernel/plan.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import { quantityOf } from '../../manifest/alike.ts';
import { mayBeMissing } from '../rollout/index.ts';
import { shapeOf } from '../survey/index.ts';
import { changesPods } from './outcome.ts';

type Asked = Pick<ClusterReader, 'dryRunCreate'>;

/** The upgrade starts pods of the workload: only then the server is asked about one. */
export function startsPods(planned: PlannedObject, workload: KubeObject): boolean {
  if (workload.kind !== 'DaemonSet' && workload.kind !== 'Deployment') return false;
  return (planned.change === 'create' || changesPods(planned)) && shapeOf(workload).spec?.replicas !== 0;
}

/**
 * What the server says to a pod of the workload's template, by a dry run; undefined where it admits one. `live` is the workload as it is,
 * `together` what is applied with it before its pods start.
 */
export async function podsAnswer(
  cluster: Asked,
  workload: KubeObject,
  live: KubeObject | undefined,
  together: readonly KubeObject[] = [],
): Promise<PodsAnswer | undefined> {
  const pod = podOf(workload);
  const first = await refusalOf(cluster, pod);
  const refusal =
    first?.message.includes('error looking up service account') && hasAccount(workload, together)
      ? await refusalOf(cluster, withoutAccount(pod))
      : first;
  // The namespace is still to come.
  if (!refusal || refusal.status === 404) return undefined;
  const words = refusal.message;
  if (CANNOT_ASK.some((one) => one.test(words))) return { verdict: 'unasked', words };
  if (isAllowedWith(words, workload, together) || isOnlyFull(words, workload, live)) return undefined;
  return { verdict: 'refused', words };
}

/** About this very request, not about pods that controllers create. */
const CANNOT_ASK = [/cannot create resource "pods"/, /does not support dry run/];

/** A refusal of this pod; no answer is thrown. */
async function refusalOf(cluster: Asked, pod: KubeObject): Promise<ApiFailure | undefined> {
  try {
    await cluster.dryRunCreate(K.Pod, pod);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof ApiFailure && (thrown.status === 500 || (thrown.status >= 400 && thrown.status < 500 && thrown.status !== 429)))
      return thrown;
    throw thrown;
  }
}

/** As its controller would create it, with its own name; some policies admit only pods of controllers. */
function podOf({ apiVersion, kind, metadata: { name, namespace = 'default', uid }, spec }: KubeObject): KubeObject {
  const owners: readonly OwnerReference[] = uid === undefined ? [] : [{ apiVersion, kind, name, uid, controller: true }];
  const { labels, annotations } = mapAt(spec, 'template', 'metadata') as Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
  return {
    apiVersion: 'v1',
    kind: K.Pod.kind,
    metadata: {
      name: `${name.slice(0, 40)}-netsvc-upgrade-twin`,
      namespace,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(owners.length > 0 ? { ownerReferences: owners } : {}),
    },
    spec: mapAt(spec, 'template', 'spec'),
  };
}

/** The account of the pods is applied with the workload, and not there yet. */
function hasAccount({ metadata, spec }: KubeObject, together: readonly KubeObject[]): boolean {
  const account = textAt(spec, 'template', 'spec', 'serviceAccountName');
  return together.some(
    (one) => one.kind === 'ServiceAccount' && one.metadata.name === account && one.metadata.namespace === metadata.namespace,
  );
}

function withoutAccount(pod: KubeObject): KubeObject {
  const { serviceAccountName: _, serviceAccount: __, ...spec } = mapAt(pod.spec);
  return { ...pod, spec };
}

export const PRIVILEGED = { label: 'pod-security.kubernetes.io/enforce', value: 'privileged' };

/** The same apply labels the namespace. */
function isAllowedWith(words: string, { metadata }: KubeObject, together: readonly KubeObject[]): boolean {
  const namespace = together.find((one) => one.kind === 'Namespace' && one.metadata.name === metadata.namespace);
  return words.includes('violates PodSecurity') && namespace?.metadata.labels?.[PRIVILEGED.label] === PRIVILEGED.value;
}

/**
 * True of a quota that is too full for one more pod, and not for one in the place of an old one: the rollout deletes that first. `exceeded
 * quota: q, requested: pods=1, used: pods=6, limited: pods=6` is how the server says it.
 */
function isOnlyFull(words: string, workload: KubeObject, live: KubeObject | undefined): boolean {
  const deletesFirst = workload.kind === 'DaemonSet' || mayBeMissing(workload) > 0;
  const [, requested, used, limited] = /exceeded quota: .*, requested: (\S+), used: (\S+), limited: (\S+)$/.exec(words) ?? [];
  if (requested === undefined || used === undefined || limited === undefined || !live || !deletesFirst) return false;
  const [asks, has, limit] = [amountsIn(requested), amountsIn(used), amountsIn(limited)];
  return [...limit].every(([resource, most]) => (asks.get(resource) ?? 0) + (has.get(resource) ?? 0) - amountOf(live, resource) <= most);
}

/** `pods=1,requests.cpu=250m` */
function amountsIn(text: string): ReadonlyMap<string, number> {
  const pairs = text.split(',').map((one) => one.split('='));
  return new Map(pairs.map(([resource = '', amount = '']) => [resource, quantityOf(amount)?.value ?? Number.POSITIVE_INFINITY]));
}

/** What one pod of the workload counts for in a quota. */
function amountOf(workload: KubeObject, resource: string): number {
  if (resource === 'pods' || resource === 'count/pods') return 1;
  const [, kind, name] = /^(?:(requests|limits)\.)?(.+)$/.exec(resource) ?? [];
  const amounts = (shapeOf(workload).spec?.template?.spec?.containers ?? []).map((container) => {
    const amount = mapAt(container, 'resources', kind ?? 'requests')[name ?? ''];
    return quantityOf(String(amount ?? 0))?.value ?? 0;
  });
  return amounts.reduce((sum, one) => sum + one, 0);
}
