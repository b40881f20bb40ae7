import type { ManagedBy, PrunableCrd } from '../../kernel/installation.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { Platform, PlatformSign, Profile } from '../../kernel/profile.ts';
import { allContainersOf, hostPathsOf } from './workload.ts';

export interface OwnerFacts {
  /** Agents, controllers, operator and Installation. */
  readonly objects: readonly KubeObject[];
  /** Every DaemonSet and Deployment. */
  readonly workloads: readonly KubeObject[];
  /** ConfigMaps of the service's namespaces. */
  readonly configMaps: readonly KubeObject[];
  readonly configMapNames: readonly string[];
  readonly crds: readonly { readonly name: string }[];
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
        const images = allContainersOf(object).map(({ image = '' }) => image);
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

type Metadata = KubeObject['metadata'];

/** A continuous-delivery tool as it marks what it owns. */
interface Tool {
  readonly name: string;
  /** The mark on an object, in words; undefined if there is none. */
  mark(metadata: Metadata): string | undefined;
  /** The command that pauses it for the object. */
  pause(metadata: Metadata): string;
  /** Annotation, `key=value`, that keeps the object when its source no longer has it; undefined if it has it already. */
  keep(metadata: Metadata): string | undefined;
}

function managerMark(metadata: Metadata, managers: readonly string[]): string | undefined {
  const found = metadata.managedFields?.find(({ manager = '' }) => managers.some((prefix) => manager.startsWith(prefix)));
  return found && `field manager ${found.manager}`;
}

function prefixed(entries: Readonly<Record<string, string>> | undefined, prefix: string): string | undefined {
  return Object.keys(entries ?? {}).find((key) => key.startsWith(prefix));
}

const ARGO = 'argocd.argoproj.io/';
const SYNC_OPTIONS = `${ARGO}sync-options`;
const NO_PRUNE = 'Prune=false';
const FLUX_KUSTOMIZE = 'kustomize.toolkit.fluxcd.io/';
const FLUX_HELM = 'helm.toolkit.fluxcd.io/';

const argo: Tool = {
  name: 'Argo CD',
  mark: ({ labels, annotations, ...rest }) => {
    const key = prefixed(labels, ARGO) ?? prefixed(annotations, ARGO);
    return key ?? managerMark({ ...rest }, ['argocd']);
  },
  pause: ({ labels, annotations }) => {
    const application = labels?.[`${ARGO}instance`] ?? annotations?.[`${ARGO}tracking-id`]?.split(':')[0] ?? 'APPLICATION';
    return `argocd app set ${application} --sync-policy none`;
  },
  keep: ({ annotations }) => {
    const said = annotations?.[SYNC_OPTIONS]?.split(',').map((option) => option.trim()) ?? [];
    if (said.includes(NO_PRUNE)) return undefined;
    // Of the options that are there `Prune` alone changes.
    const others = said.filter((option) => option !== '' && !option.startsWith('Prune='));
    return `${SYNC_OPTIONS}=${[...others, NO_PRUNE].join(',')}`;
  },
};

/** Of a HelmRelease, and not of a Kustomization. */
function isByHelm({ labels, managedFields }: Metadata): boolean {
  return prefixed(labels, FLUX_HELM) !== undefined || managedFields?.some(({ manager }) => manager === 'helm-controller') === true;
}

const flux: Tool = {
  name: 'Flux',
  mark: ({ labels, ...rest }) =>
    prefixed(labels, FLUX_KUSTOMIZE) ??
    prefixed(labels, FLUX_HELM) ??
    managerMark({ ...rest }, ['kustomize-controller', 'helm-controller']),
  pause: (metadata) => {
    const { labels } = metadata;
    const [kind, prefix] = isByHelm(metadata) ? ['helmrelease', FLUX_HELM] : ['kustomization', FLUX_KUSTOMIZE];
    const [name, namespace] = [labels?.[`${prefix}name`] ?? 'NAME', labels?.[`${prefix}namespace`] ?? 'flux-system'];
    return `flux suspend ${kind} ${name} -n ${namespace}`;
  },
  keep: (metadata) => {
    const [key, value] = isByHelm(metadata) ? ['helm.sh/resource-policy', 'keep'] : [`${FLUX_KUSTOMIZE}prune`, 'disabled'];
    return [metadata.annotations?.[key], metadata.labels?.[key]].includes(value) ? undefined : `${key}=${value}`;
  },
};

/** The continuous-delivery tools that own one of the objects: each would put its own state back (domain §2.1/3b). One row an object. */
export function gitOpsOwners(objects: readonly KubeObject[]): readonly ManagedBy[] {
  return [argo, flux].flatMap((tool) =>
    objects.flatMap(({ kind, metadata }): readonly ManagedBy[] => {
      const mark = tool.mark(metadata);
      if (mark === undefined) return [];
      const { namespace, name } = metadata;
      const object = { kind, name, ...(namespace === undefined ? {} : { namespace }) };
      const command = tool.pause(metadata);
      const hint = `Commit the upgrade to its source, or stop it first: ${command}`;
      return [{ name: tool.name, kind: 'gitops', evidence: `${refText(object)} has ${mark}`, hint, object, command }];
    }),
  );
}

const INSTANCE = 'app.kubernetes.io/instance';

/** Argo CD's default tracking label. Helm and its charts use the same one. */
function instanceMark({ labels, annotations }: Metadata): string | undefined {
  const byHelm = labels?.['app.kubernetes.io/managed-by'] === 'Helm' || annotations?.['meta.helm.sh/release-name'] !== undefined;
  return labels?.[INSTANCE] === undefined || byHelm ? undefined : INSTANCE;
}

/** The delivery tools that may delete a CRD, by its metadata; none where each is told to keep it. */
export function prunersOf(metadata: Metadata): readonly PrunableCrd[] {
  return [argo, flux].flatMap((tool) => {
    const mark = tool.mark(metadata) ?? (tool === argo ? instanceMark(metadata) : undefined);
    const keep = mark === undefined ? undefined : tool.keep(metadata);
    return mark === undefined || keep === undefined ? [] : [{ crd: metadata.name, tool: tool.name, mark, keep }];
  });
}
