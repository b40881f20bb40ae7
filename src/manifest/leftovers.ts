import { type JsonMap, textAt } from '../kernel/json.ts';
import type { KubeObject } from '../kernel/object.ts';
import type { Profile } from '../kernel/profile.ts';
import { ownersOf } from '../kube/field-paths.ts';
import { CONTAINERS, containersIn, podSpecOf, recordsIn } from './prepare.ts';

export interface Leftover {
  /** `initContainers[mount-bpffs]`, for users. */
  readonly name: string;
  /** Its place, in the notation of managedFields. */
  readonly path: readonly string[];
}

const TEMPLATE: Leftover = { name: '', path: ['f:spec', 'f:template', 'f:spec'] };
/** Managers of commands with which the user changes single fields: what only they own, someone set on purpose. */
const BY_HAND: ReadonlySet<string> = new Set(['kubectl-set', 'kubectl-edit', 'kubectl-patch']);

/**
 * Parts of the old pod template, gone from the target, that another manager kept through server-side apply (domain §6.4). The service's are
 * known old entries and images of another release; all else stays, as does a variable that a user set manually.
 */
export function findLeftovers(
  live: KubeObject,
  target: KubeObject,
  profile: Profile,
  isOldImage: (image: string) => boolean,
): readonly Leftover[] {
  const [now, wanted] = [podSpecOf(live) ?? {}, podSpecOf(target) ?? {}];
  const { containers, env, volumes } = profile.leftovers;
  const isOldContainer: IsOld = (one) => containers.includes(textAt(one, 'name') ?? '') || isOldImage(textAt(one, 'image') ?? '');
  const isOldVolume: IsOld = ({ name }) => volumes.includes(String(name));
  const within = CONTAINERS.flatMap((list) =>
    pairsOf(now[list], wanted[list]).flatMap(([container, kept]) => {
      const { name, path } = itemIn(TEMPLATE, list, container);
      const at = { name: `${name}.`, path };
      const isOldVariable: IsOld = (one) => env.includes(String(one.name)) && !setByHand(live, itemIn(at, 'env', one));
      return [...gone(at, 'env', container, kept, isOldVariable), ...gone(at, 'volumeMounts', container, kept, isOldVolume, 'mountPath')];
    }),
  );
  const isUnused: IsOld = (one) => isOldVolume(one) && !mountedByOthers(one.name, now, wanted, isOldContainer);
  return [
    ...CONTAINERS.flatMap((list) => gone(TEMPLATE, list, now, wanted, isOldContainer)),
    ...within,
    ...gone(TEMPLATE, 'volumes', now, wanted, isUnused),
  ];
}

type IsOld = (item: JsonMap) => boolean;

/** Containers that are there before and after. */
function pairsOf(now: unknown, wanted: unknown): readonly (readonly [JsonMap, JsonMap])[] {
  return recordsIn(now).flatMap((one) => {
    const kept = recordsIn(wanted).find(({ name }) => name === one.name);
    return kept ? [[one, kept] as const] : [];
  });
}

function setByHand({ metadata }: KubeObject, { name }: Leftover): boolean {
  const owners = ownersOf(metadata.managedFields, `spec.template.spec.${name}`);
  return owners.length > 0 && owners.every(({ manager, operation }) => operation === 'Update' && BY_HAND.has(manager));
}

/** Old items of a list that are there now and no longer wanted. */
function gone(at: Leftover, list: string, now: JsonMap, wanted: JsonMap, isOld: IsOld, key = 'name'): readonly Leftover[] {
  const kept = new Set(recordsIn(wanted[list]).map((one) => one[key]));
  const old = recordsIn(now[list]).filter((one) => !kept.has(one[key]) && isOld(one));
  return old.map((one) => itemIn(at, list, one, key));
}

function itemIn({ name, path }: Leftover, list: string, item: JsonMap, key = 'name'): Leftover {
  const value = String(item[key] ?? '');
  return { name: `${name}${list}[${value}]`, path: [...path, `f:${list}`, `k:${JSON.stringify({ [key]: value })}`] };
}

/** A container that someone added, in the cluster or in the target, mounts it: it stays with its container. */
function mountedByOthers(volume: unknown, now: JsonMap, wanted: JsonMap, isOld: IsOld): boolean {
  const targeted = containersIn(wanted);
  const known = new Set(targeted.map(({ name }) => name));
  const others = containersIn(now).filter((one) => !known.has(one.name) && !isOld(one));
  return [...targeted, ...others].some((one) => recordsIn(one.volumeMounts).some(({ name }) => name === volume));
}
