import type { KubeObject } from '../../kernel/object.ts';

interface Container {
  readonly image?: string;
}

interface Workload {
  readonly spec?: {
    readonly replicas?: number;
    readonly paused?: boolean;
    readonly template?: { readonly spec?: { readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[] } };
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

/** Counters that must all equal the wanted number; an absent one is 0. */
const COUNTS = {
  DaemonSet: ['updatedNumberScheduled', 'currentNumberScheduled', 'numberReady', 'numberAvailable'],
  Deployment: ['updatedReplicas', 'replicas', 'readyReplicas', 'availableReplicas'],
} as const;

const WORDS = ['updated', 'there', 'ready', 'available'] as const;

/**
 * Why a workload is not wholly on its target; the operator's "available" ignores updated counts (point 4 of the rule). `imageLag` says what
 * is wrong with an image, or ''; `neverEmpty`: a pod must run, unlike agents for Windows.
 */
export function workloadLags(workload: KubeObject, imageLag: (image: string) => string, neverEmpty: boolean): readonly string[] {
  const { spec, status = {} } = workload as Workload;
  const pod = spec?.template?.spec;
  const images = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]
    .map((one) => imageLag(one.image ?? ''))
    .filter((why) => why !== '');
  if (images.length > 0) return [...new Set(images)];
  if ((status.observedGeneration ?? 0) !== (workload.metadata.generation ?? 0)) return ['its controller has not seen the change yet'];
  const kind = workload.kind === 'DaemonSet' ? 'DaemonSet' : 'Deployment';
  const wanted = kind === 'DaemonSet' ? (status.desiredNumberScheduled ?? 0) : (spec?.replicas ?? 1);
  if (wanted === 0 && neverEmpty) return [kind === 'DaemonSet' ? 'wants no pod: no node fits it' : 'wants no pod: it is scaled to 0'];
  const short = COUNTS[kind].findIndex((field) => (status[field] ?? 0) !== wanted);
  const paused = spec?.paused ? '; its rollout is paused: see kubectl rollout resume' : '';
  return short < 0 ? [] : [`${status[COUNTS[kind][short] ?? ''] ?? 0} of ${wanted} pods are ${WORDS[short]}${paused}`];
}

/** The workload's own image among added containers: the wanted one, else by name, else a Deployment's first. */
export function ownImage(workload: KubeObject, wanted: string): string | undefined {
  const images = ((workload as Workload).spec?.template?.spec?.containers ?? []).map(({ image = '' }) => image);
  return images.find((image) => image === wanted) ?? images.find((image) => nameOf(image) === nameOf(wanted)) ?? images[0];
}

/** `quay.io/tigera/operator:v1.42.3` → `operator`. */
function nameOf(image: string): string {
  return /([^/:@]+)(?:[:@][^/]*)?$/.exec(image)?.[1] ?? image;
}
