import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../kernel/object.ts';
import { isPassing } from '../../kernel/ports.ts';
import { AGAIN } from '../../kernel/step.ts';
import { lastWarning, shortText } from '../rollout/index.ts';
import type { AgentOnNode } from './agents.ts';
import { doubledText, podsOf } from './bound-job.ts';
import { clientJob, listenerJob, NETWORK_PROBES, type ProbePlace } from './jobs.ts';
import { type Found, foundBy, type PodSays, type Probed, podSays } from './verdict.ts';

/** Pull of the image included. */
export const LISTENS_MS = 60_000;
/** Five tries of a client, each with the patience of its resolver. */
const ENDS_MS = 150_000;
/** A Job whose pod is refused never gets one. */
const CREATED_MS = 10_000;
export const APART_MS = 1_000;

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;
export interface Told extends Pick<Around, 'stop' | 'report'> {
  /** Called for each Job, which the caller deletes. */
  created(job: ObjectRef): unknown;
}

/** A Job of the probe, on the node of an agent. */
export interface Posted {
  readonly job: KubeObject;
  readonly on: AgentOnNode;
  /** Of a client: whom it asks. */
  readonly to?: AgentOnNode;
}

/**
 * A listener on each node, then a client on each that asks another's, or its own on a single node; creates Jobs and leaves them. Throws
 * ApiFailure, and Fault('interrupted') when stopped.
 */
export async function probeNodes(
  nodes: readonly AgentOnNode[],
  ports: Ports,
  { namespace, image }: Omit<ProbePlace, 'id'>,
  told: Told,
): Promise<Probed> {
  const id = ports.clock.now().getTime().toString(36);
  const create = async (document: KubeObject) => {
    const job = await ports.cluster.create(K.Job, document);
    told.created(refOf(job));
    return job;
  };
  const place = (part: string, index: number, { node }: AgentOnNode) => ({ namespace, image, id, node, part: `${part}-${index + 1}` });
  const listeners: Posted[] = [];
  for (const [index, on] of nodes.entries()) listeners.push({ on, job: await create(listenerJob(place('listener', index, on))) });
  const listening = await settled(listeners, LISTENERS, ports, told);
  const stuck = await firstStuck(listening, ports, namespace);
  if (stuck) return stuck;
  const clients: Posted[] = [];
  for (const [index, on] of nodes.entries()) {
    const other = listening[listening.length - 1 - index];
    if (other?.says.state !== 'runs') return { unmade: 'a listener is not there' };
    clients.push({ on, to: other.on, job: await create(clientJob(place('client', index, on), other.says.address)) });
  }
  const ended = await settled(clients, CLIENTS, ports, told);
  return (await firstStuck(ended, ports, namespace)) ?? foundOf(ended);
}

/** What is awaited of pods, and by which label they are found. */
export interface Awaiting {
  readonly wanted: 'runs' | 'ended';
  readonly selector: string;
  readonly limitMs: number;
  readonly what: string;
}
const LISTENERS: Awaiting = { wanted: 'runs', selector: NETWORK_PROBES, limitMs: LISTENS_MS, what: 'listeners of the network probe' };
const CLIENTS: Awaiting = { wanted: 'ended', selector: NETWORK_PROBES, limitMs: ENDS_MS, what: 'clients of the network probe' };

export interface Settled extends Posted {
  readonly pod: string | undefined;
  readonly says: PodSays;
  readonly wanted: PodSays['state'];
}

/** What the pods of these Jobs say once none of them is awaited any more, or the time is up. */
export async function settled(
  jobs: readonly Posted[],
  { wanted, selector: labelSelector, limitMs, what }: Awaiting,
  { cluster, clock }: Ports,
  told: Told,
): Promise<readonly Settled[]> {
  const begun = clock.now().getTime();
  const until = begun + limitMs;
  const namespace = jobs[0]?.job.metadata.namespace ?? '';
  const seenIn = (pods: readonly KubeObject[]) =>
    jobs.map((posted): Settled => {
      const { uid = '', name } = posted.job.metadata;
      const [pod, ...more] = podsOf(pods, uid);
      const says = more.length === 0 ? podSays(pod) : ({ state: 'refused', why: doubledText(more.length + 1, name) } as const);
      return { ...posted, wanted, pod: pod?.metadata.name, says };
    });
  let seen = seenIn([]);
  for (;;) {
    seen = await cluster.list(K.Pod, { namespace, labelSelector }).then(seenIn, (thrown: unknown) => {
      if (isPassing(thrown)) return seen;
      throw thrown;
    });
    const waited = clock.now().getTime() - begun;
    const open = seen.filter(({ pod, says }) =>
      says.state === 'waits' ? pod !== undefined || waited < CREATED_MS : wanted === 'ended' && says.state === 'runs',
    );
    told.report(seen.length - open.length, seen.length, what);
    if (open.length === 0 || clock.now().getTime() >= until) return seen;
    if (told.stop.aborted) {
      throw new Fault('interrupted', 'stopped while the pod network was probed; the Jobs are deleted', [AGAIN]);
    }
    await clock.sleep(APART_MS, told.stop).catch(() => undefined);
  }
}

/** A pod that is not where it should be: without a network that is what was asked for; for any other reason nothing could be asked. */
export async function firstStuck(jobs: readonly Settled[], { cluster }: Ports, namespace: string): Promise<Probed | undefined> {
  for (const { job, on, pod, says, wanted } of jobs) {
    if (says.state === wanted) continue;
    const where = `the pod on ${on.node}`;
    if (says.state === 'runs') return { unmade: `${where} did not end in time` };
    if (says.state === 'ended') return { unmade: `${where} ended with exit code ${says.code}: ${shortText(says.says)}` };
    if (says.state === 'refused') return { unmade: `${where}: ${shortText(says.why)}` };
    const event = await lastEvent(cluster, namespace, pod ?? job.metadata.name);
    if (event?.reason === NO_NETWORK) return { found: [{ from: on, to: on, lacks: 'no-sandbox', says: event.message ?? '' }] };
    return { unmade: `${where}: ${event ? `${event.reason}: ${shortText(event.message)}` : says.why}` };
  }
  return undefined;
}

const NO_NETWORK = 'FailedCreatePodSandBox';

/** The last warning about an object, one about its network before any other; undefined where this account may not read events. */
async function lastEvent(cluster: Ports['cluster'], namespace: string, name: string) {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${encodeURIComponent(`involvedObject.name=${name}`)}`;
  return lastWarning(await cluster.raw(`${path}&limit=50`).catch(() => ''), new Set([NO_NETWORK]));
}

function foundOf(ended: readonly Settled[]): Probed {
  const found: Found[] = [];
  for (const { on, to = on, says } of ended) {
    const one = says.state === 'ended' ? foundBy(on, to, says) : `the client on ${on.node} did not end`;
    if (typeof one === 'string') return { unmade: one };
    found.push(one);
  }
  return { found };
}
