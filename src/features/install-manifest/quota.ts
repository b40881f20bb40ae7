import { mapAt } from '../../kernel/json-map.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { quantityOf } from '../../kube/quantity.ts';
import { mayBeMissing, shapeOf } from '../rollout/index.ts';

/**
 * True of a quota that is too full for one more pod, and not for one in the place of an old one: the rollout deletes that first. `exceeded
 * quota: q, requested: pods=1, used: pods=6, limited: pods=6` is how the server says it.
 */
export function isOnlyFull(words: string, workload: KubeObject, live: KubeObject | undefined): boolean {
  const [, requested, used, limited] = /exceeded quota: .*, requested: (\S+), used: (\S+), limited: (\S+)$/.exec(words) ?? [];
  if (requested === undefined || used === undefined || limited === undefined || !live || !deletesFirst(workload)) return false;
  const [asks, has, limit] = [amountsIn(requested), amountsIn(used), amountsIn(limited)];
  return [...limit].every(([resource, most]) => (asks.get(resource) ?? 0) + (has.get(resource) ?? 0) - amountOf(live, resource) <= most);
}

/** `pods=1,requests.cpu=250m` */
function amountsIn(text: string): ReadonlyMap<string, number> {
  const pairs = text.split(',').map((one) => one.split('='));
  return new Map(pairs.map(([resource = '', amount = '']) => [resource, quantityOf(amount)?.value ?? Number.POSITIVE_INFINITY]));
}

function deletesFirst(workload: KubeObject): boolean {
  return workload.kind === 'DaemonSet' || mayBeMissing(workload) > 0;
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
