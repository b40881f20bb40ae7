import { K } from '../kernel/kinds.ts';
import type { KubeObject } from '../kernel/object.ts';
import { podShape } from '../kube/pod-facts.ts';
import type { WorkloadDeps } from './kubelets.ts';
import { isPodReady, isStopping, nodeOf, podsOf } from './pods-of.ts';

interface JobShape {
  readonly spec: {
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly template: {
      readonly metadata?: KubeObject['metadata'];
      readonly spec: Readonly<Record<string, unknown>> & { readonly affinity?: unknown };
    };
  };
}

/** From the start of a program that ends to its end. */
const ENDS_MS = 2_000;

/** Jobs of one pod that is bound to a node, their end at the deadline and their removal after it, and what the pods of a network probe find. */
export function startJobs(deps: WorkloadDeps): void {
  let addresses = 0;
  deps.store.listen(({ kind, before, after }) => {
    if (kind.plural === K.Job.plural && after && !before) begin(deps, after);
    if (kind.plural !== K.Pod.plural || !after || !ownedByJob(after) || !isPodReady(after) || addressOf(after) !== '') return;
    addresses += 1;
    const ip = `10.244.0.${addresses}`;
    deps.clock.schedule(0, () => setStatus(deps, after, { podIP: ip }));
    if (argumentsOf(after)[0] === 'client') deps.clock.schedule(ENDS_MS, () => end(deps, after));
  });
}

function begin({ store, clock }: WorkloadDeps, job: KubeObject): void {
  const { template, activeDeadlineSeconds: deadline, ttlSecondsAfterFinished: ttl = 0 } = (job as unknown as JobShape).spec;
  const { name, namespace = 'default', uid = '' } = job.metadata;
  clock.schedule(0, () => {
    const node = /"metadata\.name"[^\]]*"values":\["([^"]+)"\]/.exec(JSON.stringify(template.spec.affinity ?? {}))?.[1];
    if (node === undefined || !store.get(K.Node, node)) return;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true };
    const labels = template.metadata?.labels ?? {};
    const metadata = { name: `${name}-0`, namespace, labels, ownerReferences: [owner] };
    const status = { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] };
    store.insert(K.Pod, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...template.spec, nodeName: node }, status });
  });
  if (deadline === undefined) return;
  const isThere = () => store.get(K.Job, name, namespace)?.metadata.uid === uid;
  clock.schedule(deadline * 1000, () => {
    if (isThere()) for (const pod of podsOf(store, job)) store.markDeleted(K.Pod, pod);
  });
  clock.schedule((deadline + ttl) * 1000, () => {
    if (isThere()) store.delete(K.Job, name, namespace);
  });
}

function ownedByJob({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'Job') === true;
}

function addressOf(pod: KubeObject): string {
  return (pod.status as { readonly podIP?: string } | undefined)?.podIP ?? '';
}

/** What follows the text of a script: `client`, and what it asks. */
function argumentsOf(pod: KubeObject): readonly string[] {
  const [container] = podShape(pod).spec?.containers ?? [];
  return ((container as { readonly command?: readonly string[] } | undefined)?.command ?? []).slice(3);
}

function setStatus({ store }: WorkloadDeps, { metadata }: KubeObject, more: object): void {
  const live = store.get(K.Pod, metadata.name, metadata.namespace);
  if (live?.metadata.uid === metadata.uid && live) store.update(K.Pod, { ...live, status: { ...(live.status as object), ...more } });
}

/** As the script of the probe ends: by whether the name was resolved, and whether the other pod answered. */
function end(deps: WorkloadDeps, pod: KubeObject): void {
  const [, name = '', address = ''] = argumentsOf(pod);
  const peer = deps.store.list(K.Pod).find((one) => addressOf(one) === address && !isStopping(one));
  const [here, there] = [deps.nodes.faultOf(nodeOf(pod)), peer ? deps.nodes.faultOf(nodeOf(peer)) : 'no-network'];
  const isNamed = here !== 'no-network' && here !== 'no-dns';
  const isAnswered = here !== 'no-network' && there !== 'no-network';
  const exitCode = isNamed && isAnswered ? 0 : isAnswered ? 10 : isNamed ? 20 : 30;
  const says = [
    ...(isNamed ? [] : [`${name} was not resolved`]),
    ...(isAnswered ? [] : [`no answer from ${address} port 8080: timed out`]),
  ];
  const containerStatuses = (podShape(pod).status?.containerStatuses ?? []).map((one) => ({
    ...one,
    ready: false,
    state: { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', message: says.join('\n') } },
  }));
  setStatus(deps, pod, { phase: exitCode === 0 ? 'Succeeded' : 'Failed', conditions: [], containerStatuses });
}
