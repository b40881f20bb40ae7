import type { Reading } from '../../kernel/check.ts';
import type { ChartRelease } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';

const NAME = 'meta.helm.sh/release-name';
const NAMESPACE = 'meta.helm.sh/release-namespace';

export type ChartAnswer =
  | { readonly type: 'release'; readonly chart: ChartRelease; readonly evidence: string }
  /** Rendered with the chart tool and applied by something else: there is no release. */
  | { readonly type: 'rendered'; readonly evidence: string }
  /** The objects name a release that is not stored (any more, or out of the cluster). */
  | { readonly type: 'lost'; readonly chart: ChartRelease; readonly evidence: string }
  | { readonly type: 'none' };

/**
 * Whether the operator's objects belong to a chart release (domain §2.2): the annotations that an install or upgrade leaves,
 * confirmed by the labels of the stored release, whose content is not needed and may not be readable.
 */
export function chartOf(objects: readonly KubeObject[], stored: Reading<readonly KubeObject[]>): ChartAnswer {
  const owned = objects.find(({ metadata }) => metadata.annotations?.[NAME] !== undefined);
  if (!owned) return renderedOrNone(objects);
  const name = owned.metadata.annotations?.[NAME] ?? '';
  const namespace = owned.metadata.annotations?.[NAMESPACE] ?? owned.metadata.namespace ?? '';
  const where = `${owned.kind} ${owned.metadata.name} belongs to chart release ${namespace}/${name}`;
  if ('unread' in stored) {
    return { type: 'release', chart: { name, namespace }, evidence: `${where} (its Secrets could not be read: ${stored.unread})` };
  }
  const newest = newestRevision(stored.value, name, namespace);
  const elsewhere = newest ? undefined : onlyElsewhere(stored.value, name);
  if (elsewhere) {
    const evidence = `${where}, which is stored in namespace ${elsewhere.namespace} alone: somebody is moving it, or has moved it`;
    return { type: 'release', chart: { name, ...elsewhere, named: namespace }, evidence };
  }
  if (!newest)
    return { type: 'lost', chart: { name, namespace }, evidence: `${where}, which is stored neither in Secrets nor in ConfigMaps` };
  return { type: 'release', chart: { name, namespace, ...newest }, evidence: `${where}, revision ${newest.revision} ${newest.status}` };
}

function renderedOrNone(objects: readonly KubeObject[]): ChartAnswer {
  const labelled = objects.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm');
  if (!labelled) return { type: 'none' };
  return { type: 'rendered', evidence: `${labelled.kind} ${labelled.metadata.name} was rendered from a chart, without a release` };
}

/** The annotations are changed before the release is installed in its new namespace: until then the old one is all there is. */
function onlyElsewhere(stored: readonly KubeObject[], name: string): Omit<ChartRelease, 'name'> | undefined {
  const ofName = stored.filter(({ metadata }) => metadata.labels?.owner === 'helm' && metadata.labels.name === name);
  const [namespace, ...others] = new Set(ofName.map(({ metadata }) => metadata.namespace ?? ''));
  const newest = namespace === undefined || others.length > 0 ? undefined : newestRevision(stored, name, namespace);
  return namespace === undefined || newest === undefined ? undefined : { namespace, ...newest };
}

function newestRevision(
  stored: readonly KubeObject[],
  name: string,
  namespace: string,
): { readonly revision: number; readonly status: string } | undefined {
  return stored
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.owner === 'helm' && metadata.labels.name === name)
    .map(({ metadata }) => ({ revision: Number(metadata.labels?.version ?? 0), status: metadata.labels?.status ?? 'unknown' }))
    .toSorted((a, b) => b.revision - a.revision)[0];
}
