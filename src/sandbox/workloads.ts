import { type JsonMap, jsonAt, textAt } from '../kernel/json.ts';
import { K } from '../kernel/kinds.ts';
import type { Kind, KubeObject } from '../kernel/object.ts';
import { podShape } from '../kube/pod-facts.ts';
import { current, startKubelets, type WorkloadDeps } from './nodes.ts';
import { isOfTemplate, isPodReady, isStopping, makePod, nodeOf, podsOf, specOf } from './pods-of.ts';
import type { Store } from './store.ts';

/** One pod per node that the selector takes; a new template rolls as far as maxUnavailable lets it. */
function reconcileDaemonSet({ store }: Pick<WorkloadDeps, 'store'>, set: KubeObject): void {
  const nodes = nodesFor(store, set);
  const all = podsOf(store, set);
  for (const pod of all) if (!nodes.includes(nodeOf(pod))) store.markDeleted(K.Pod, pod);
  const held = new Set(all.map(nodeOf));
  for (const node of nodes) if (!held.has(node)) makePod(store, set, node);
  if (specOf(set).updateStrategy?.type !== 'OnDelete') roll(store, set, nodes);
  writeStatus(store, set, nodes);
}

/** Pods of a workload that are not told to stop: all, those of an older template, and those of the newest. */
function aliveOf(store: Store, workload: KubeObject) {
  const alive = podsOf(store, workload).filter((pod) => !isStopping(pod));
  const [fresh, old] = [true, false].map((is) => alive.filter((pod) => isOfTemplate(pod, workload) === is));
  return { alive, old: old ?? [], fresh: fresh ?? [] };
}

/** An unavailable old pod is always replaced; of the others as many as may be unavailable at a time. */
function roll(store: Store, set: KubeObject, nodes: readonly string[]): void {
  const { alive, old, fresh } = aliveOf(store, set);
  const broken = old.filter((pod) => !isPodReady(pod));
  const empty = nodes.filter((node) => !alive.some((pod) => nodeOf(pod) === node)).length;
  const unavailable = empty + fresh.filter((pod) => !isPodReady(pod)).length;
  const room = Math.max(0, maxUnavailable(set, nodes.length) - unavailable);
  const next = old.filter(isPodReady).slice(0, room);
  for (const pod of [...broken, ...next]) store.markDeleted(K.Pod, pod);
}

function maxUnavailable(set: KubeObject, nodes: number): number {
  const said = specOf(set).updateStrategy?.rollingUpdate?.maxUnavailable ?? 1;
  return typeof said === 'number' ? said : Math.max(1, Math.ceil((Number.parseInt(said, 10) * nodes) / 100));
}

function nodesFor(store: Store, set: KubeObject): readonly string[] {
  const wanted = Object.entries(specOf(set).template.spec.nodeSelector ?? {});
  const nodes = store.list(K.Node).filter(({ metadata }) => wanted.every(([label, value]) => metadata.labels?.[label] === value));
  return nodes.map(({ metadata }) => metadata.name);
}

function writeStatus(store: Store, set: KubeObject, nodes: readonly string[]): void {
  const pods = podsOf(store, set).filter((pod) => nodes.includes(nodeOf(pod)) && !isStopping(pod));
  const ready = pods.filter(isPodReady).length;
  const status = {
    currentNumberScheduled: pods.length,
    desiredNumberScheduled: nodes.length,
    numberMisscheduled: 0,
    numberReady: ready,
    numberAvailable: ready,
    numberUnavailable: nodes.length - ready,
    updatedNumberScheduled: pods.filter((pod) => isOfTemplate(pod, set)).length,
    observedGeneration: set.metadata.generation,
  };
  store.update(K.DaemonSet, { ...set, status });
}

/** A controller looks this long after a change. */
const REACT_MS = 100;

const CONTROLLERS = [
  [K.DaemonSet, reconcileDaemonSet],
  [K.Deployment, reconcileDeployment],
] as const;

/** The controllers of DaemonSets and Deployments, and the kubelets: everything that works on pods. */
export function startWorkloads(deps: WorkloadDeps): void {
  startKubelets(deps);
  startJobs(deps);
  let waiting = false;
  const watched = new Set([K.DaemonSet, K.Deployment, K.Job, K.Pod, K.Node].map((kind: Kind) => kind.plural));
  deps.store.listen(({ kind }) => {
    if (waiting || !watched.has(kind.plural)) return;
    waiting = true;
    deps.clock.schedule(REACT_MS, () => {
      waiting = false;
      for (const [kindOf, reconcile] of CONTROLLERS) {
        for (const workload of deps.store.list(kindOf)) reconcile(deps, workload);
      }
      removeOrphans(deps);
    });
  });
}

/** The garbage collector: pods whose workload is gone go as well. */
function removeOrphans({ store }: WorkloadDeps): void {
  const kinds = [...CONTROLLERS.map(([kind]) => kind), K.Job];
  const owners = new Set(kinds.flatMap((kind) => store.list(kind).map(({ metadata }) => metadata.uid)));
  for (const pod of store.list(K.Pod)) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller);
    if (owner && kinds.some(({ kind }) => kind === owner.kind) && !owners.has(owner.uid)) store.markDeleted(K.Pod, pod);
  }
}

interface JobSpec {
  readonly activeDeadlineSeconds?: number;
  readonly ttlSecondsAfterFinished?: number;
  readonly template: { readonly metadata?: KubeObject['metadata']; readonly spec: JsonMap };
}

/** From the start of a program that ends to its end. */
const ENDS_MS = 2_000;

/** Jobs of one pod that is bound to a node, their end at the deadline and their removal after it, and what the pods of a network probe find. */
function startJobs(deps: WorkloadDeps): void {
  let addresses = 0;
  deps.store.listen(({ kind, before, after }) => {
    if (kind.plural === K.Job.plural && after && !before) begin(deps, after);
    if (kind.plural !== K.Pod.plural || !after || !ownedByJob(after) || !isPodReady(after) || addressOf(after) !== '') return;
    addresses += 1;
    const ip = `10.244.0.${addresses}`;
    deps.clock.schedule(0, () => setStatus(deps, after, { podIP: ip }));
    if (argumentsOf(after)[0] === 'client') deps.clock.schedule(ENDS_MS, () => end(deps, after));
    if (argumentsOf(after)[0] === 'probe') deps.clock.schedule(ENDS_MS, () => tellAll(deps, after));
  });
}

function begin({ store, clock }: WorkloadDeps, job: KubeObject): void {
  const { template, activeDeadlineSeconds: deadline, ttlSecondsAfterFinished: ttl = 0 } = job.spec as JobSpec;
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
  return textAt(pod, 'status', 'podIP') ?? '';
}

/** What follows the text of a script: `client`, and what it asks. */
function argumentsOf(pod: KubeObject): readonly string[] {
  const command = jsonAt(podShape(pod).spec?.containers?.[0], 'command');
  return Array.isArray(command) ? command.slice(3) : [];
}

function setStatus(deps: WorkloadDeps, pod: KubeObject, more: object): void {
  const live = current(deps, pod);
  if (live) deps.store.update(K.Pod, { ...live, status: { ...(live.status as object), ...more } });
}

/** As the script of a node probe ends where nothing is wrong. */
function tellAll(deps: WorkloadDeps, pod: KubeObject): void {
  const terminated = { exitCode: 0, reason: 'Completed', message: 'done\n' };
  const containerStatuses = (podShape(pod).status?.containerStatuses ?? []).map((one) => ({ ...one, ready: false, state: { terminated } }));
  setStatus(deps, pod, { phase: 'Succeeded', conditions: [], containerStatuses });
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

/** This many pods of the newest template: Recreate stops all old ones first, else an old one goes when a new one is ready. */
function reconcileDeployment({ store, nodes }: Pick<WorkloadDeps, 'store' | 'nodes'>, deployment: KubeObject): void {
  const { replicas = 1, strategy } = specOf(deployment);
  const { alive, old, fresh } = aliveOf(store, deployment);
  if (strategy?.type === 'Recreate') {
    for (const pod of old) store.markDeleted(K.Pod, pod);
    const gone = podsOf(store, deployment).every((pod) => isOfTemplate(pod, deployment));
    if (gone) fill(store, nodes, deployment, replicas - fresh.length);
  } else {
    fill(store, nodes, deployment, Math.min(replicas - fresh.length, Math.max(1, replicas + 1 - alive.length)));
    const surplus = fresh.filter(isPodReady).length + old.length - replicas;
    for (const pod of old.slice(0, Math.max(0, surplus))) store.markDeleted(K.Pod, pod);
  }
  for (const pod of fresh.slice(replicas)) store.markDeleted(K.Pod, pod);
  writeDeploymentStatus(store, deployment, replicas);
}

/** On nodes that are up, the least used first, as the scheduler spreads. */
function fill(store: Store, faults: WorkloadDeps['nodes'], deployment: KubeObject, count: number): void {
  for (let made = 0; made < count; made += 1) {
    const pods = podsOf(store, deployment);
    const up = store
      .list(K.Node)
      .filter(({ metadata, spec }) => faults.faultOf(metadata.name) !== 'down' && jsonAt(spec, 'unschedulable') !== true);
    const load = (node: KubeObject) => pods.filter((pod) => nodeOf(pod) === node.metadata.name).length;
    const [node] = up.toSorted((a, b) => load(a) - load(b));
    if (!node) return;
    makePod(store, deployment, node.metadata.name);
  }
}

function writeDeploymentStatus(store: Store, deployment: KubeObject, wanted: number): void {
  const { alive, fresh } = aliveOf(store, deployment);
  const ready = alive.filter(isPodReady).length;
  const available = { type: 'Available', status: ready >= wanted ? 'True' : 'False' };
  const status = {
    replicas: alive.length,
    updatedReplicas: fresh.length,
    readyReplicas: ready,
    availableReplicas: ready,
    unavailableReplicas: Math.max(0, wanted - ready),
    observedGeneration: deployment.metadata.generation,
    conditions: [available],
  };
  store.update(K.Deployment, { ...deployment, status });
}
