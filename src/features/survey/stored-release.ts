import type { Reading } from '../../kernel/check.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { attempt } from './reading.ts';

const NAME = 'meta.helm.sh/release-name';
const NAMESPACE = 'meta.helm.sh/release-namespace';

/** The chart release that the first annotated one of these objects names, and that object. */
export function namedRelease(objects: readonly KubeObject[]) {
  const owned = objects.find(({ metadata }) => metadata.annotations?.[NAME] !== undefined);
  if (!owned) return undefined;
  const { annotations, namespace } = owned.metadata;
  return { owned, name: annotations?.[NAME] ?? '', namespace: annotations?.[NAMESPACE] ?? namespace ?? '' };
}

/** The newest revision of a release, by the labels of what it is stored in. */
export function newestRevision(stored: readonly KubeObject[], name: string, namespace: string) {
  return stored
    .filter(({ metadata }) => metadata.namespace === namespace && metadata.labels?.owner === 'helm' && metadata.labels.name === name)
    .map(({ metadata }) => ({ revision: Number(metadata.labels?.version ?? 0), status: metadata.labels?.status ?? 'unknown' }))
    .toSorted((a, b) => b.revision - a.revision)[0];
}

/**
 * UIDs of what a release is stored in that a run is moving. The record is asked only where the objects name a release that is not stored:
 * their annotations change before it is installed in its new namespace.
 */
export async function readMoved(
  records: Sources['records'],
  objects: readonly KubeObject[],
  stored: Reading<readonly KubeObject[]>,
): Promise<Reading<readonly string[]>> {
  const named = namedRelease(objects);
  if (!named || 'unread' in stored || newestRevision(stored.value, named.name, named.namespace)) return { value: [] };
  return attempt(async () => (await records.load())?.moved ?? []);
}
