import type { KubeObject } from '../../kernel/object.ts';
import { LAST_APPLIED } from '../../kube/applied-owners.ts';

/** What tools write on an object themselves: in Git it would be another tool's, or wrong at the next write. */
const OF_TOOLS: readonly string[] = [
  LAST_APPLIED,
  'deployment.kubernetes.io/revision',
  'deprecated.daemonset.template.generation',
  'argocd.argoproj.io/instance',
  'argocd.argoproj.io/tracking-id',
  ...['name', 'namespace', 'checksum'].map((key) => `kustomize.toolkit.fluxcd.io/${key}`),
  ...['name', 'namespace'].map((key) => `helm.toolkit.fluxcd.io/${key}`),
];

/** Of the metadata only what the user writes. */
const METADATA: readonly string[] = ['name', 'namespace', 'labels', 'annotations'];

/** An object as the user commits it: nothing that the cluster or a tool adds to it. */
export function asInGit({ status: _, metadata, ...object }: KubeObject & { readonly status?: unknown }): KubeObject {
  const own = Object.entries(metadata).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (!METADATA.includes(key) || value === undefined || value === null) return [];
    if (key !== 'labels' && key !== 'annotations') return [[key, value]];
    const kept = Object.entries(value as Readonly<Record<string, string>>).filter(([name]) => !OF_TOOLS.includes(name));
    return kept.length === 0 ? [] : [[key, Object.fromEntries(kept)]];
  });
  const { apiVersion, kind, ...rest } = object;
  return { apiVersion, kind, metadata: Object.fromEntries(own) as unknown as KubeObject['metadata'], ...rest };
}
