import type { KubeObject } from '../kernel/object.ts';
import type { Profile } from '../kernel/profile.ts';
import { ownersOf } from '../kube/field-paths.ts';

interface Named {
  readonly name?: string;
  readonly image?: string;
  readonly env?: readonly Named[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface PodSpec {
  readonly containers?: readonly Named[];
  readonly initContainers?: readonly Named[];
  readonly volumes?: readonly Named[];
}

export interface Leftover {
  /** `initContainers[mount-bpffs]`, for users. */
  readonly name: string;
  /** Its place, in the notation of managedFields. */
  readonly path: readonly string[];
}

const TEMPLATE = ['f:spec', 'f:template', 'f:spec'];

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
  const [now, wanted] = [podSpec(live), podSpec(target)];
  const { containers, env, volumes } = profile.leftovers;
  const isOldContainer = (one: Named) => containers.includes(one.name ?? '') || isOldImage(one.image ?? '');
  return [
    ...gone('initContainers', now.initContainers, wanted.initContainers, isOldContainer),
    ...gone('containers', now.containers, wanted.containers, isOldContainer),
    ...inContainers(now, wanted, (label, one) => env.includes(one) && !setByHand(live, `${label}env[${one}]`), volumes),
    ...gone(
      'volumes',
      now.volumes,
      wanted.volumes,
      (one) => volumes.includes(one.name ?? '') && !mountedByOthers(one.name ?? '', now, wanted, isOldContainer),
    ),
  ];
}

function podSpec(object: KubeObject): PodSpec {
  return ((object as { spec?: { template?: { spec?: PodSpec } } }).spec?.template?.spec ?? {}) as PodSpec;
}

function setByHand({ metadata }: KubeObject, label: string): boolean {
  const owners = ownersOf(metadata.managedFields, `spec.template.spec.${label}`);
  return owners.length > 0 && owners.every(({ manager, operation }) => operation === 'Update' && BY_HAND.has(manager));
}

function gone(
  list: string,
  now: readonly Named[] = [],
  wanted: readonly Named[] = [],
  isOld: (one: Named) => boolean,
  base: readonly string[] = TEMPLATE,
  label = '',
): readonly Leftover[] {
  const kept = new Set(wanted.map((one) => one.name));
  return now
    .filter((one) => !kept.has(one.name) && isOld(one))
    .map(({ name = '' }) => ({ name: `${label}${list}[${name}]`, path: [...base, `f:${list}`, itemOf('name', name)] }));
}

function itemOf(key: string, value: string): string {
  return `k:${JSON.stringify({ [key]: value })}`;
}

/** A container that someone added, in the cluster or in the target, mounts it: it stays with its container. */
function mountedByOthers(volume: string, now: PodSpec, wanted: PodSpec, isOld: (one: Named) => boolean): boolean {
  const targeted = [...(wanted.initContainers ?? []), ...(wanted.containers ?? [])];
  const known = new Set(targeted.map((one) => one.name));
  const others = [...(now.initContainers ?? []), ...(now.containers ?? [])].filter((one) => !known.has(one.name) && !isOld(one));
  return [...targeted, ...others].some((one) => (one.volumeMounts ?? []).some((mount) => mount.name === volume));
}

/** Variables and mounts of old releases within containers that stay. */
function inContainers(
  now: PodSpec,
  wanted: PodSpec,
  isOldVariable: (label: string, name: string) => boolean,
  volumes: readonly string[],
): readonly Leftover[] {
  return (['initContainers', 'containers'] as const).flatMap((list) =>
    (now[list] ?? []).flatMap((container) => {
      const target = wanted[list]?.find((one) => one.name === container.name);
      if (!target) return [];
      const base = [...TEMPLATE, `f:${list}`, itemOf('name', container.name ?? '')];
      const label = `${list}[${container.name}].`;
      return [
        ...gone('env', container.env, target.env, (one) => isOldVariable(label, one.name ?? ''), base, label),
        ...goneMounts(container, target, volumes, base, label),
      ];
    }),
  );
}

function goneMounts(now: Named, wanted: Named, volumes: readonly string[], base: readonly string[], label: string): readonly Leftover[] {
  const kept = new Set((wanted.volumeMounts ?? []).map((mount) => mount.mountPath));
  return (now.volumeMounts ?? [])
    .filter(({ name, mountPath }) => !kept.has(mountPath) && volumes.includes(name))
    .map(({ mountPath }) => ({
      name: `${label}volumeMounts[${mountPath}]`,
      path: [...base, 'f:volumeMounts', itemOf('mountPath', mountPath)],
    }));
}
