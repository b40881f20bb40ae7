import type { JsonPatchOp, KubeObject } from '../kernel/object.ts';
import type { Profile } from '../kernel/profile.ts';
import { ownersOf } from '../kube/field-owners.ts';

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

export interface LeftoverRemoval {
  /** `initContainers[mount-bpffs]`, for people. */
  readonly names: readonly string[];
  readonly patch: readonly JsonPatchOp[];
  /** What is removed, for the run record. */
  readonly removed: unknown;
}

const TEMPLATE = '/spec/template/spec';

/** Managers of commands with which a person changes single fields: what only they own, someone set on purpose. */
const BY_HAND: ReadonlySet<string> = new Set(['kubectl-set', 'kubectl-edit', 'kubectl-patch']);

/**
 * What the old release's pod template has, the target's has not, and server-side apply left there because another manager
 * owns it (domain §6.4). Only entries that old releases are known to have had, or that run the service's own image of
 * another release, are the service's; anything else is someone's addition and stays. So does a variable of such a name that a
 * person set by hand: not every old release had it.
 */
export function findLeftovers(
  live: KubeObject,
  target: KubeObject,
  profile: Profile,
  isOldImage: (image: string) => boolean,
): LeftoverRemoval | undefined {
  const [now, wanted] = [podSpec(live), podSpec(target)];
  const { containers, env, volumes } = profile.leftovers;
  const isOldContainer = (one: Named) => containers.includes(one.name ?? '') || isOldImage(one.image ?? '');
  const found = [
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
  if (found.length === 0) return undefined;
  return {
    names: found.map((one) => one.label),
    removed: Object.fromEntries(found.map((one) => [one.label, one.value])),
    patch: [...found]
      .sort(lastFirst)
      .flatMap(({ path, testPath, testValue }) => [
        { op: 'test', path: testPath, value: testValue } as const,
        { op: 'remove', path } as const,
      ]),
  };
}

interface Found {
  readonly label: string;
  readonly path: string;
  readonly index: number;
  readonly testPath: string;
  readonly testValue: unknown;
  readonly value: unknown;
}

/** What lies inside containers first, then later entries before earlier ones: each index stays right until it is used. */
function lastFirst(a: Found, b: Found): number {
  return b.path.split('/').length - a.path.split('/').length || b.index - a.index;
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
  base = TEMPLATE,
  label = '',
): readonly Found[] {
  const kept = new Set(wanted.map((one) => one.name));
  return now.flatMap((one, index) => {
    if (kept.has(one.name) || !isOld(one)) return [];
    const path = `${base}/${list}/${index}`;
    return [{ label: `${label}${list}[${one.name}]`, path, index, testPath: `${path}/name`, testValue: one.name, value: one }];
  });
}

/** A container that someone added, in the cluster or in the target itself, mounts it: it stays with its container. */
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
): readonly Found[] {
  return (['initContainers', 'containers'] as const).flatMap((list) =>
    (now[list] ?? []).flatMap((container, index) => {
      const target = wanted[list]?.find((one) => one.name === container.name);
      if (!target) return [];
      const base = `${TEMPLATE}/${list}/${index}`;
      const label = `${list}[${container.name}].`;
      return [
        ...gone('env', container.env, target.env, (one) => isOldVariable(label, one.name ?? ''), base, label),
        ...goneMounts(container, target, volumes, base, label),
      ];
    }),
  );
}

function goneMounts(now: Named, wanted: Named, volumes: readonly string[], base: string, label: string): readonly Found[] {
  const kept = new Set((wanted.volumeMounts ?? []).map((mount) => mount.mountPath));
  return (now.volumeMounts ?? []).flatMap((mount, index) => {
    if (kept.has(mount.mountPath) || !volumes.includes(mount.name)) return [];
    const path = `${base}/volumeMounts/${index}`;
    return [
      {
        label: `${label}volumeMounts[${mount.mountPath}]`,
        path,
        index,
        testPath: `${path}/mountPath`,
        testValue: mount.mountPath,
        value: mount,
      },
    ];
  });
}
