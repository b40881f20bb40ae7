import type { Context } from '../../kernel/context.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject, ObjectRef } from '../../kernel/object.ts';
import type { ClusterReader } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { parseImage } from '../../kernel/release.ts';
import { hasEnded, podShape } from '../../kube/pod-facts.ts';
import { shapeOf } from '../survey/index.ts';

interface Containers {
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
}

interface Container {
  readonly name: string;
  readonly image?: string;
}

/** A running pod with the sidecar. */
export interface SidecarPod {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: ObjectRef;
  readonly isStale: boolean;
  /** Of the mesh whose injector served it, as that wrote on it; undefined where it does not tell. */
  readonly revision?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

const REVISION = 'istio.io/rev';

/** From the injector’s own account of what it put in; older ones give an annotation or a label, which the user may have set as well. */
function revisionOf({ labels, annotations }: KubeObject['metadata']): string | undefined {
  const account = /"revision":\s*"([^"]+)"/.exec(annotations?.['sidecar.istio.io/status'] ?? '')?.[1];
  return account || annotations?.[REVISION] || labels?.[REVISION] || undefined;
}

/** Of a pod without the sidecar nothing is wanted but that it is one. */
function leanPod(pod: KubeObject, profile: Profile): KubeObject {
  const { apiVersion, kind, metadata } = pod;
  const { spec, status } = podShape(pod);
  const sidecar = sidecarOf(spec, profile);
  if (!sidecar) return { apiVersion, kind, metadata: { name: metadata.name } };
  const { name, namespace, labels, ownerReferences, creationTimestamp, deletionTimestamp } = metadata;
  const revision = revisionOf(metadata);
  const annotations = revision === undefined ? {} : { [REVISION]: revision };
  const head = { name, namespace, labels, annotations, ownerReferences, creationTimestamp, deletionTimestamp } as KubeObject['metadata'];
  const { name: container, image } = sidecar;
  return { apiVersion, kind, metadata: head, spec: { containers: [{ name: container, image }] }, status: { phase: status?.phase } };
}

/** Running pods with the sidecar; of each only what is needed, since a cluster has thousands. */
export async function readSidecars(cluster: ClusterReader, { profile, goal }: Context): Promise<readonly SidecarPod[]> {
  return (await cluster.list(K.Pod, { keep: (pod) => leanPod(pod, profile) })).flatMap((pod) => {
    const sidecar = sidecarOf(podShape(pod).spec, profile);
    if (!sidecar || hasEnded(pod) || pod.metadata.deletionTimestamp) return [];
    const { name, namespace = '', labels = {} } = pod.metadata;
    const owner = ownerOf(pod);
    const revision = revisionOf(pod.metadata);
    return [
      {
        name,
        namespace,
        labels,
        ...(owner ? { owner } : {}),
        ...(revision === undefined ? {} : { revision }),
        isStale: parseImage(sidecar.image ?? '').tag !== goal.release,
        createdAt: Date.parse(pod.metadata.creationTimestamp ?? '') || 0,
      },
    ];
  });
}

/** A native sidecar is an init container. */
function sidecarOf(spec: Containers | undefined, { sidecar, images }: Profile): Container | undefined {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  return all.find(({ name, image = '' }) => name === sidecar.container || images.sidecar.includes(parseImage(image).name));
}

/** True if the workload's own template has the sidecar: nothing puts it in. */
export function hasOwnSidecar(workload: KubeObject, profile: Profile): boolean {
  return sidecarOf(shapeOf(workload).spec?.template?.spec, profile) !== undefined;
}

/** The controller that an object belongs to. */
export function ownerOf({ metadata }: KubeObject): ObjectRef | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller);
  return owner && { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name };
}
