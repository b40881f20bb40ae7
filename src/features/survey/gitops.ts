import type { ManagedBy, PrunableCrd } from '../../kernel/installation.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';

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
