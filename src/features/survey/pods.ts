import type { KubeObject } from '../../kernel/object.ts';
import { endedForMemory, hasEnded, podContainers, podFacts, podShape } from '../../kube/pod-facts.ts';
import type { PodView } from './facts.ts';

/** Keeps of a pod what the checks look at: a cluster has thousands of them. */
export function podView(pod: KubeObject): PodView {
  const { spec } = podShape(pod);
  const facts = podFacts(pod);
  const outOfMemory = endedForMemory(pod);
  return {
    namespace: facts.namespace,
    name: facts.name,
    node: facts.node,
    labels: pod.metadata.labels ?? {},
    containers: podContainers(pod).map(({ name, image }) => ({ name, image })),
    readyContainers: facts.readyContainers,
    regularContainers: facts.containers,
    ready: facts.readyCondition,
    terminating: facts.terminating,
    ...(hasEnded(pod) ? { ended: true } : {}),
    ...(outOfMemory.length > 0 ? { outOfMemory } : {}),
    ...(spec?.hostNetwork ? { hostNetwork: true } : {}),
    ...(facts.trouble ? { trouble: `${facts.trouble.container}: ${facts.trouble.reason}` } : {}),
    flexDrivers: (spec?.volumes ?? []).flatMap(({ flexVolume }) => (flexVolume?.driver === undefined ? [] : [flexVolume.driver])),
  };
}
