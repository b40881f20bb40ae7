import type { ManagedBy } from '../../kernel/installation.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { Platform, PlatformSign, Profile } from '../../kernel/profile.ts';
import { gitOpsOwners } from './gitops.ts';
import type { CrdFact } from './inventory.ts';
import { containersOf, hostPathsOf, initContainersOf } from './workload.ts';

export interface OwnerFacts {
  /** Agents, controllers, operator and Installation. */
  readonly objects: readonly KubeObject[];
  /** Every DaemonSet and Deployment. */
  readonly workloads: readonly KubeObject[];
  /** ConfigMaps of the service's namespaces. */
  readonly configMaps: readonly KubeObject[];
  readonly configMapNames: readonly string[];
  readonly crds: readonly CrdFact[];
  readonly chartRelease?: string;
}

/** Who else manages the installation: platforms by the profile's table (domain §2.4), then delivery tools. */
export function managersOf(facts: OwnerFacts, profile: Profile): readonly ManagedBy[] {
  const platforms = profile.platforms.flatMap((platform) => platformOwner(platform, facts) ?? []);
  return [...platforms, ...gitOpsOwners(facts.objects)];
}

function platformOwner(platform: Platform, facts: OwnerFacts): ManagedBy | undefined {
  for (const sign of platform.signs) {
    const evidence = seen(sign, facts);
    if (evidence !== undefined) return { name: platform.title, kind: 'platform', evidence, hint: platform.hint };
  }
  return undefined;
}

/** The sign in words, if it is there. */
function seen(sign: PlatformSign, facts: OwnerFacts): string | undefined {
  switch (sign.type) {
    case 'label':
      return onObject(facts, ({ metadata }) => entry(metadata.labels, sign, 'label'));
    case 'annotation':
      return onObject(facts, ({ metadata }) => entry(metadata.annotations, sign, 'annotation'));
    case 'manager':
      return onObject(facts, ({ metadata }) => {
        const found = metadata.managedFields?.find(({ manager = '' }) => manager.startsWith(sign.prefix));
        return found && `field manager ${found.manager}`;
      });
    case 'image':
      return onObject(facts, (object) => {
        const images = [...containersOf(object), ...initContainersOf(object)].map(({ image = '' }) => image);
        const found = images.find((image) => image.includes(sign.contains));
        return found && `image ${found}`;
      });
    case 'hostPath':
      return onObject(facts, (object) => {
        const found = hostPathsOf(object).find((path) => path.startsWith(sign.prefix));
        return found && `host path ${found}`;
      });
    default:
      return seenElsewhere(sign, facts);
  }
}

type ElsewhereSign = Extract<PlatformSign, { type: 'workload' | 'configMap' | 'configMapKey' | 'chartRelease' | 'crd' }>;

function seenElsewhere(sign: ElsewhereSign, facts: OwnerFacts): string | undefined {
  switch (sign.type) {
    case 'workload': {
      const found = facts.workloads.find(({ kind, metadata }) => kind === sign.kind && metadata.name === sign.name);
      return found && `there is ${refOfWorkload(found)}`;
    }
    case 'configMap': {
      const found = facts.configMaps.find(({ metadata }) => metadata.name === sign.name);
      return found && `there is ConfigMap/${found.metadata.namespace}/${sign.name}`;
    }
    case 'configMapKey': {
      const found = facts.configMaps.find((map) => facts.configMapNames.includes(map.metadata.name) && hasKey(map, sign));
      return found && `ConfigMap/${found.metadata.namespace}/${found.metadata.name} has ${sign.key}`;
    }
    case 'chartRelease':
      return facts.chartRelease?.startsWith(sign.prefix) ? `chart release ${facts.chartRelease}` : undefined;
    case 'crd':
      return facts.crds.some(({ name }) => name === sign.name) ? `there is CustomResourceDefinition/${sign.name}` : undefined;
  }
}

function hasKey(map: KubeObject, sign: { readonly key: string; readonly contains?: string }): boolean {
  const value = (map as { data?: Readonly<Record<string, string>> }).data?.[sign.key];
  return value?.includes(sign.contains ?? '') ?? false;
}

function entry(
  entries: Readonly<Record<string, string>> | undefined,
  sign: { readonly key: string; readonly value?: string },
  what: string,
): string | undefined {
  const found = Object.entries(entries ?? {}).find(([key, value]) => {
    const named = sign.key.endsWith('/') ? key.startsWith(sign.key) : key === sign.key;
    return named && value.startsWith(sign.value ?? '');
  });
  return found && `${what} ${found[0]}=${found[1]}`;
}

function onObject(facts: OwnerFacts, look: (object: KubeObject) => string | undefined): string | undefined {
  for (const object of facts.objects) {
    const found = look(object);
    if (found !== undefined) return `${refOfWorkload(object)} has ${found}`;
  }
  return undefined;
}

function refOfWorkload({ kind, metadata }: KubeObject): string {
  return refText({ kind, namespace: metadata.namespace, name: metadata.name });
}
