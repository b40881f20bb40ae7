import type { ManagedBy } from '../core/installation.ts';
import { type KubeObject, refText } from '../core/object.ts';

type Metadata = KubeObject['metadata'];

/** A continuous-delivery tool as it marks what it owns. */
interface Tool {
  readonly name: string;
  /** The mark on an object, in words; undefined if there is none. */
  mark(metadata: Metadata): string | undefined;
  hint(metadata: Metadata): string;
}

function managerMark(metadata: Metadata, managers: readonly string[]): string | undefined {
  const found = metadata.managedFields?.find(({ manager = '' }) => managers.some((prefix) => manager.startsWith(prefix)));
  return found && `field manager ${found.manager}`;
}

function prefixed(entries: Readonly<Record<string, string>> | undefined, prefix: string): string | undefined {
  return Object.keys(entries ?? {}).find((key) => key.startsWith(prefix));
}

const ARGO = 'argocd.argoproj.io/';
const FLUX_KUSTOMIZE = 'kustomize.toolkit.fluxcd.io/';
const FLUX_HELM = 'helm.toolkit.fluxcd.io/';

const argo: Tool = {
  name: 'Argo CD',
  mark: ({ labels, annotations, ...rest }) => {
    const key = prefixed(labels, ARGO) ?? prefixed(annotations, ARGO);
    return key ?? managerMark({ ...rest }, ['argocd']);
  },
  hint: ({ labels, annotations }) => {
    const application = labels?.[`${ARGO}instance`] ?? annotations?.[`${ARGO}tracking-id`]?.split(':')[0] ?? 'APPLICATION';
    return `Commit the upgrade to its source, or stop it first: argocd app set ${application} --sync-policy none`;
  },
};

const flux: Tool = {
  name: 'Flux',
  mark: ({ labels, ...rest }) =>
    prefixed(labels, FLUX_KUSTOMIZE) ??
    prefixed(labels, FLUX_HELM) ??
    managerMark({ ...rest }, ['kustomize-controller', 'helm-controller']),
  hint: ({ labels, managedFields }) => {
    const byHelm = prefixed(labels, FLUX_HELM) ?? managedFields?.find(({ manager }) => manager === 'helm-controller');
    const [kind, prefix] = byHelm ? ['helmrelease', FLUX_HELM] : ['kustomization', FLUX_KUSTOMIZE];
    const [name, namespace] = [labels?.[`${prefix}name`] ?? 'NAME', labels?.[`${prefix}namespace`] ?? 'flux-system'];
    return `Commit the upgrade to its source, or stop it first: flux suspend ${kind} ${name} -n ${namespace}`;
  },
};

/** The continuous-delivery tools that own one of the objects: each would put its own state back (domain §2.1/3b). */
export function gitOpsOwners(objects: readonly KubeObject[]): readonly ManagedBy[] {
  return [argo, flux].flatMap((tool) => {
    for (const object of objects) {
      const mark = tool.mark(object.metadata);
      if (mark === undefined) continue;
      const { kind, metadata } = object;
      const where = refText({ kind, namespace: metadata.namespace, name: metadata.name });
      return [{ name: tool.name, kind: 'gitops' as const, evidence: `${where} has ${mark}`, hint: tool.hint(metadata) }];
    }
    return [];
  });
}
