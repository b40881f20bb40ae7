import type { PodView } from '../checks/facts.ts';
import type { KubeObject } from '../core/object.ts';
import { podFacts } from '../core/pod-facts.ts';

interface PodShape {
  readonly spec?: {
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
    readonly initContainers?: readonly { readonly name: string; readonly image?: string }[];
    readonly volumes?: readonly { readonly flexVolume?: { readonly driver?: string } }[];
  };
}

/** Keeps of a pod what the checks look at: a cluster has thousands of them. */
export function podView(pod: KubeObject): PodView {
  const { spec } = pod as PodShape;
  const facts = podFacts(pod);
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return {
    namespace: facts.namespace,
    name: facts.name,
    node: facts.node,
    labels: pod.metadata.labels ?? {},
    containers: containers.map(({ name, image = '' }) => ({ name, image })),
    readyContainers: facts.readyContainers,
    regularContainers: facts.containers,
    ready: facts.readyCondition,
    terminating: facts.terminating,
    ...(facts.trouble ? { trouble: `${facts.trouble.container}: ${facts.trouble.reason}` } : {}),
    flexDrivers: (spec?.volumes ?? []).flatMap(({ flexVolume }) => (flexVolume?.driver === undefined ? [] : [flexVolume.driver])),
  };
}
