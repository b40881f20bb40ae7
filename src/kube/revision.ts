import type { KubeObject } from '../kernel/object.ts';
import { isSameImage } from './judge-pod.ts';
import type { PodFacts } from './pod-facts.ts';
import { containersOf, isObserved, shapeOf } from './workload.ts';

/** Where the API server counts the templates of a DaemonSet; its pods have the number as a label. */
const TEMPLATES = 'deprecated.daemonset.template.generation';

/**
 * Tells pods of a DaemonSet's template from those of an earlier one, as its controller does: an edit may change it and keep the image. All
 * are of it where nothing tells.
 */
export function ofTemplate(workload: KubeObject, pods: readonly PodFacts[]): (pod: PodFacts) => boolean {
  const now = workload.metadata.annotations?.[TEMPLATES];
  const { updatedNumberScheduled: updated = 0, desiredNumberScheduled: desired = 0 } = shapeOf(workload).status ?? {};
  const counted = isObserved(workload) ? updated : 0;
  if (now === undefined || (counted > 0 && counted >= desired)) return () => true;
  const marked = pods.flatMap(({ revision }) => revision ?? []);
  const made = marked.filter(({ generation }) => generation === now);
  // A template that came back has its former hash: then the controller counts pods that were made before.
  const alike = pods.filter(({ images }) => hasImages(workload, images)).flatMap(({ revision }) => revision ?? []);
  const again = [...Map.groupBy(alike, ({ hash }) => hash).values()].filter(({ length }) => length === counted);
  const hashes = new Set((made.length > 0 ? made : again.length === 1 ? again.flat() : []).map(({ hash }) => hash));
  return ({ revision }) => revision === undefined || revision.generation === now || hashes.has(revision.hash);
}

/** It was made before the template that the DaemonSet has now, which may be the same as an earlier one. */
export function isMadeBefore({ metadata }: KubeObject, { revision }: PodFacts): boolean {
  const now = metadata.annotations?.[TEMPLATES];
  return now !== undefined && revision !== undefined && revision.generation !== now;
}

/** What admission added to a pod does not count. */
function hasImages(workload: KubeObject, images: PodFacts['images']): boolean {
  return containersOf(workload).every(({ name, image = '' }) => isSameImage(images[name] ?? '', image));
}
