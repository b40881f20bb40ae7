import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import type { ManagedBy, PrunableCrd } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { type KubeObject, refOf, refText } from '../../kernel/object.ts';
import type { Platform, PlatformSign, Profile } from '../../kernel/profile.ts';
import { text } from '../../kernel/step.ts';
import { allContainersOf, hostPathsOf } from '../../kube/workload.ts';

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

function platformOwner({ signs, title, hint }: Platform, facts: OwnerFacts): ManagedBy | undefined {
  for (const sign of signs) {
    const evidence = (SEEN[sign.type] as Seen<PlatformSign>)(sign, facts);
    if (evidence !== undefined) return { name: title, kind: 'platform', evidence, hint };
  }
  return undefined;
}

/** The sign in words, if it is there. */
type Seen<S extends PlatformSign> = (sign: S, facts: OwnerFacts) => string | undefined;

const SEEN: { readonly [T in PlatformSign['type']]: Seen<Extract<PlatformSign, { type: T }>> } = {
  label: (sign, facts) => onObject(facts, ({ metadata }) => entry(metadata.labels, sign, 'label')),
  annotation: (sign, facts) => onObject(facts, ({ metadata }) => entry(metadata.annotations, sign, 'annotation')),
  manager: ({ prefix }, facts) => onObject(facts, ({ metadata }) => managerMark(metadata, [prefix])),
  image: ({ contains }, facts) =>
    onObject(facts, (object) => {
      const found = allContainersOf(object).find(({ image = '' }) => image.includes(contains));
      return found && `image ${found.image}`;
    }),
  hostPath: ({ prefix }, facts) =>
    onObject(facts, (object) => {
      const found = hostPathsOf(object).find((path) => path.startsWith(prefix));
      return found && `host path ${found}`;
    }),
  workload: (sign, { workloads }) => {
    const found = workloads.find(({ kind, metadata }) => kind === sign.kind && metadata.name === sign.name);
    return found && `there is ${refText(refOf(found))}`;
  },
  configMap: ({ name }, { configMaps }) => {
    const found = configMaps.find(({ metadata }) => metadata.name === name);
    return found && `there is ConfigMap/${found.metadata.namespace}/${name}`;
  },
  configMapKey: (sign, { configMaps, configMapNames }) => {
    const found = configMaps.find(
      (map) => configMapNames.includes(map.metadata.name) && textAt(map, 'data', sign.key)?.includes(sign.contains ?? ''),
    );
    return found && `ConfigMap/${found.metadata.namespace}/${found.metadata.name} has ${sign.key}`;
  },
  chartRelease: ({ prefix }, { chartRelease }) => (chartRelease?.startsWith(prefix) ? `chart release ${chartRelease}` : undefined),
  crd: ({ name }, { crds }) => (crds.some((crd) => crd.name === name) ? `there is CustomResourceDefinition/${name}` : undefined),
};

function entry(entries: Metadata['labels'], sign: { readonly key: string; readonly value?: string }, what: string): string | undefined {
  const found = Object.entries(entries ?? {}).find(([key, value]) => {
    const named = sign.key.endsWith('/') ? key.startsWith(sign.key) : key === sign.key;
    return named && value.startsWith(sign.value ?? '');
  });
  return found && `${what} ${found[0]}=${found[1]}`;
}

function onObject(facts: OwnerFacts, look: (object: KubeObject) => string | undefined): string | undefined {
  for (const object of facts.objects) {
    const found = look(object);
    if (found !== undefined) return `${refText(refOf(object))} has ${found}`;
  }
  return undefined;
}

type Metadata = KubeObject['metadata'];

/** A continuous-delivery tool as it marks what it owns. */
interface Tool {
  readonly name: string;
  /** Its field managers, by the beginning of their names. */
  readonly managers: readonly string[];
  /** The key by which it marks an object; undefined if there is none. */
  key(metadata: Metadata): string | undefined;
  /** The command that pauses it for the object. */
  pause(metadata: Metadata): RepairCommand;
  /** Annotation, `key=value`, that keeps the object when its source no longer has it; undefined if it has it already. */
  keep(metadata: Metadata): string | undefined;
}

function managerMark(metadata: Metadata, managers: readonly string[]): string | undefined {
  const found = metadata.managedFields?.find(({ manager = '' }) => managers.some((prefix) => manager.startsWith(prefix)));
  return found && `field manager ${found.manager}`;
}

function prefixed(entries: Metadata['labels'], prefix: string): string | undefined {
  return Object.keys(entries ?? {}).find((key) => key.startsWith(prefix));
}

const ARGO = 'argocd.argoproj.io/';
const SYNC_OPTIONS = `${ARGO}sync-options`;
const NO_PRUNE = 'Prune=false';
const FLUX_KUSTOMIZE = 'kustomize.toolkit.fluxcd.io/';
const FLUX_HELM = 'helm.toolkit.fluxcd.io/';

/** A name as these tools give them; a text that is none may be an option of the command in which it would stand. */
function nameOr(placeholder: string, text: string | undefined): string {
  return text !== undefined && text.length < 254 && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text) ? text : placeholder;
}

const argo: Tool = {
  name: 'Argo CD',
  managers: ['argocd'],
  key: ({ labels, annotations }) => prefixed(labels, ARGO) ?? prefixed(annotations, ARGO),
  pause: ({ labels, annotations }) => {
    const application = nameOr('APPLICATION', labels?.[`${ARGO}instance`] ?? annotations?.[`${ARGO}tracking-id`]?.split(':')[0]);
    return repairCommand`argocd app set ${application} --sync-policy none`;
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
  managers: ['kustomize-controller', 'helm-controller'],
  key: ({ labels }) => prefixed(labels, FLUX_KUSTOMIZE) ?? prefixed(labels, FLUX_HELM),
  pause: (metadata) => {
    const { labels } = metadata;
    const [kind, prefix] = isByHelm(metadata) ? ['helmrelease', FLUX_HELM] : ['kustomization', FLUX_KUSTOMIZE];
    const [name, namespace] = [nameOr('NAME', labels?.[`${prefix}name`]), nameOr('flux-system', labels?.[`${prefix}namespace`])];
    return repairCommand`flux suspend ${kind} ${name} -n ${namespace}`;
  },
  keep: (metadata) => {
    const [key, value] = isByHelm(metadata) ? ['helm.sh/resource-policy', 'keep'] : [`${FLUX_KUSTOMIZE}prune`, 'disabled'];
    return [metadata.annotations?.[key], metadata.labels?.[key]].includes(value) ? undefined : `${key}=${value}`;
  },
};

const TOOLS = [argo, flux];

/** The mark on an object, in words; undefined if there is none. */
function markOf({ key, managers }: Tool, metadata: Metadata): string | undefined {
  return key(metadata) ?? managerMark(metadata, managers);
}

/** The delivery tool of a field manager. */
export function toolOf(manager: string): string | undefined {
  return TOOLS.find(({ managers }) => managers.some((prefix) => manager.startsWith(prefix)))?.name;
}

/** The continuous-delivery tools that own one of the objects: each would put its own state back (domain §2.1/3b). One row an object. */
export function gitOpsOwners(objects: readonly KubeObject[]): readonly ManagedBy[] {
  return TOOLS.flatMap((tool) =>
    objects.flatMap(({ kind, metadata }): readonly ManagedBy[] => {
      const mark = markOf(tool, metadata);
      if (mark === undefined) return [];
      const { namespace, name } = metadata;
      const object = { kind, name, ...(namespace === undefined ? {} : { namespace }) };
      const pause = tool.pause(metadata);
      const hint = text`Commit the upgrade to its source, or stop it first: ${pause}`;
      return [{ name: tool.name, kind: 'gitops', evidence: `${refText(object)} has ${mark}`, hint, object, command: pause }];
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
  return TOOLS.flatMap((tool) => {
    const mark = markOf(tool, metadata) ?? (tool === argo ? instanceMark(metadata) : undefined);
    const keep = mark === undefined ? undefined : tool.keep(metadata);
    return mark === undefined || keep === undefined ? [] : [{ crd: metadata.name, tool: tool.name, mark, keep }];
  });
}
