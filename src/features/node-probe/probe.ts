import { eachOf } from '../../kernel/each-of.ts';
import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { AGAIN } from '../../kernel/step.ts';
import { podShape } from '../../kube/pod-facts.ts';
import { doubledText, podsOf } from '../network-probe/index.ts';
import { pagesOf } from '../rollout/index.ts';
import type { AgentNeeds, HostMount } from './agent-needs.ts';
import { type ProbedImage, probedImages } from './image-probe.ts';
import { containersOf, JOB_PREFIX, NODE_PROBES, type ProbeParts, probeJob } from './job.ts';
import { agentSaid, leanProbe, missingMount, type NodeSaid, refusal, without } from './said.ts';

/** Nodes that are tried at the same time: at most this number of pods is in memory, and pulls its images at once. */
const AT_ONCE = 50;
/** Requests in flight that create or delete Jobs. */
const WIDTH = 8;
const APART_MS = 2_000;
/** A pull that fails is tried again by the kubelet: this long nothing that failed is believed. */
const RETRIED_MS = 60_000;
/** A Job whose pod is refused never gets one. */
const CREATED_MS = 15_000;
/** Of one node, over all its mounts. */
const MOST_TRIES = 20;

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;

export interface Probe extends Omit<ProbeParts, 'id' | 'node' | 'part' | 'endsAfter'> {
  readonly nodes: readonly string[];
  /** Of one node. */
  readonly timeoutMs: number;
}

export interface Told extends Pick<Around, 'stop' | 'report'> {
  /** Called for each Job, which the caller deletes unless `deleted` is called for it. */
  created(job: ObjectRef): unknown;
  deleted(job: ObjectRef): unknown;
}

export interface Probed {
  readonly results: readonly ProbedImage[];
  readonly nodes: readonly NodeSaid[];
}

/** One node that is being tried; of its pods only the newest counts. */
interface Tried {
  readonly node: KubeObject;
  readonly needs: AgentNeeds | undefined;
  readonly job: KubeObject;
  readonly tries: number;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly faults: readonly string[];
  readonly untried: readonly string[];
}

/** Every node, some at a time: a Job on each, until it has said everything or its time is up. Throws Fault('interrupted') when stopped. */
export async function probeNodes(probe: Probe, ports: Ports, told: Told): Promise<Probed> {
  const around = { probe, ports, told, id: ports.clock.now().getTime().toString(36) };
  const waiting = [...probe.nodes];
  // Kept when it is said: the cluster deletes a Job some time after its end, and with it the pod that said it.
  const ended = new Map<string, Pick<Seen, 'said' | 'images'>>();
  let tried: readonly Tried[] = [];
  for (;;) {
    const fresh = await eachOf(waiting.splice(0, AT_ONCE - tried.length), WIDTH, (name) => first(name, around));
    for (const one of fresh) if ('said' in one) ended.set(one.said.node, one);
    const seen = await lookAt([...tried, ...fresh.filter((one) => 'job' in one)], around);
    const open = seen.filter(({ isOpen }) => isOpen);
    for (const { said, images } of seen.filter(({ isOpen }) => !isOpen)) ended.set(said.node, { said, images });
    await eachOf(seen, WIDTH, async (one) => one.isOpen || removed(one.tried.job, around));
    told.report(ended.size, probe.nodes.length, 'nodes tried');
    if (open.length + waiting.length === 0) break;
    if (told.stop.aborted) throw new Fault('interrupted', 'stopped while nodes were tried; the Jobs are deleted', [AGAIN]);
    tried = await eachOf(open, WIDTH, (one) => one.next?.() ?? Promise.resolve(one.tried));
    await ports.clock.sleep(APART_MS, told.stop).catch(() => undefined);
  }
  const all = probe.nodes.flatMap((name) => ended.get(name) ?? []);
  return { results: all.flatMap(({ images }) => images), nodes: all.map(({ said }) => said) };
}

interface Trial {
  readonly probe: Probe;
  readonly ports: Ports;
  readonly told: Told;
  readonly id: string;
}

async function first(name: string, around: Trial): Promise<Tried | Pick<Seen, 'said' | 'images'>> {
  const node = await around.ports.cluster.get(K.Node, name);
  if (!node) return { said: { node: name, faults: [], untried: ['everything: the node is gone'] }, images: [] };
  return begun(node, around.probe.needs, around);
}

async function begun(node: KubeObject, needs: AgentNeeds | undefined, { probe, ports, told, id }: Trial, before?: Tried): Promise<Tried> {
  const { name } = node.metadata;
  const tries = (before?.tries ?? 0) + 1;
  const part = `${probe.nodes.indexOf(name) + 1}-${tries}`;
  const document = probeJob({ ...probe, needs, id, node: name, part, endsAfter: Math.ceil(probe.timeoutMs / 1000) + 30 });
  const job = await ports.cluster.create(K.Job, document);
  told.created(refOf(job));
  const until = before?.until ?? ports.clock.now().getTime() + probe.timeoutMs;
  return { node, needs, job, tries, until, faults: before?.faults ?? [], untried: before?.untried ?? [] };
}

async function removed(job: KubeObject, { ports, told }: Trial): Promise<void> {
  await ports.cluster.remove(K.Job, refOf(job)).catch(unlessGone);
  told.deleted(refOf(job));
}

function unlessGone(thrown: unknown): void {
  if (!(thrown instanceof ApiFailure && thrown.status === 404)) throw thrown;
}

interface Seen {
  readonly tried: Tried;
  readonly said: NodeSaid;
  readonly images: readonly ProbedImage[];
  readonly isOpen: boolean;
  /** Tries it in another way. */
  readonly next?: () => Promise<Tried>;
}

async function lookAt(tried: readonly Tried[], around: Trial): Promise<readonly Seen[]> {
  const { cluster, clock } = around.ports;
  const { namespace, images } = around.probe;
  const pods = await cluster.list(K.Pod, { namespace, labelSelector: NODE_PROBES, keep: leanProbe });
  const now = clock.now().getTime();
  const paired = tried.map((one) => ({ one, ...podOf(pods, one.job) }));
  const isQuiet = ({ one, pod }: (typeof paired)[number]) => !pod || (one.needs !== undefined && !agentSaid(pod, one.needs).isOver);
  const eventsOf = (reason: string) => readEvents(cluster, namespace, reason);
  const [mounts, refused] = paired.some(isQuiet) ? await Promise.all([eventsOf('FailedMount'), eventsOf('FailedCreate')]) : [[], []];
  const heard = { mounts, refused, images, now };
  return paired.map(({ one, pod, doubled }) => seenOf(one, pod, { ...heard, doubled }, around));
}

/** None of them where more than one says that it is of the Job. */
function podOf(pods: readonly KubeObject[], { metadata: { uid = '', name } }: KubeObject) {
  const [pod, ...more] = podsOf(pods, uid);
  return more.length === 0 ? { pod, doubled: undefined } : { pod: undefined, doubled: doubledText(more.length + 1, name) };
}

interface Heard {
  /** Events about volumes, and about pods that were not created. */
  readonly mounts: readonly object[];
  readonly refused: readonly object[];
  /** More than one pod says that it is of the Job. */
  readonly doubled: string | undefined;
  readonly images: readonly string[];
  readonly now: number;
}

function seenOf(one: Tried, pod: KubeObject | undefined, { mounts, refused, doubled, images, now }: Heard, around: Trial): Seen {
  const { node, needs, job } = one;
  const results = probedImages(new Map(pod ? [[node.metadata.name, pod]] : []), [node], containersOf(images, needs), now);
  const agent = pod && needs ? agentSaid(pod, needs) : { faults: [], untried: [], isOver: needs === undefined };
  const missing = pod && needs && !agent.isOver ? missingMount(mounts, pod.metadata.name, needs.mounts) : undefined;
  if (missing && one.tries < MOST_TRIES && now < one.until) {
    const next = () => tryAgain(one, { mount: missing.mount, instead: undefined, fault: undefined, ...without(missing) }, around);
    return { tried: one, said: saidOf(one, {}), images: results, isOpen: true, next };
  }
  const noPod = pod ? undefined : (doubled ?? refusal(refused, job.metadata.name));
  const age = now - Date.parse(job.metadata.creationTimestamp ?? '');
  const isHopeless = !pod && (noPod !== undefined || age > CREATED_MS);
  // Without its image the agent says nothing, however long it is waited for.
  const isWithout = results.some(({ image, state }) => image === needs?.image && state === 'failed');
  const isRetried = pod !== undefined && podShape(pod).status?.phase === 'Pending' && age < RETRIED_MS;
  const isTold = (state: ProbedImage['state']) => state !== 'untold' && !(state === 'failed' && isRetried);
  const isUntold = !(agent.isOver || isWithout) || !results.every(({ state }) => isTold(state));
  const why = noPod ?? missing?.says ?? results.find(({ state }) => state !== 'pulled')?.because ?? 'no answer of the node yet';
  return {
    tried: one,
    said: saidOf(one, { ...agent, untried: [...agent.untried, ...(agent.isOver ? [] : [`the agent: ${why}`])] }),
    images: noPod === undefined ? results : results.map((each) => ({ ...each, because: noPod })),
    isOpen: isUntold && !isHopeless && !isAway(results) && now < one.until,
  };
}

const isAway = (results: readonly ProbedImage[]) => results.some(({ state }) => state === 'away');

const saidOf = ({ node, faults, untried }: Tried, more: Partial<Pick<NodeSaid, 'faults' | 'untried'>>): NodeSaid => ({
  node: node.metadata.name,
  faults: [...faults, ...(more.faults ?? [])],
  untried: [...untried, ...(more.untried ?? [])],
});

interface Change {
  readonly mount: HostMount;
  readonly instead: HostMount | undefined;
  readonly fault: string | undefined;
}

/** The same pod with the folder above a missing one in its place, or without it. */
async function tryAgain(one: Tried, { mount, instead, fault }: Change, around: Trial): Promise<Tried> {
  await removed(one.job, around);
  const { needs } = one;
  if (!needs) return one;
  const mounts = needs.mounts.flatMap((each) => {
    if (each.volume !== mount.volume) return [each];
    return instead ? [{ ...each, path: instead.path, tried: instead.tried }] : [];
  });
  const before = {
    ...one,
    faults: [...one.faults, ...(fault === undefined ? [] : [fault])],
    untried: [...one.untried, ...(instead || fault !== undefined ? [] : [`mount of ${mount.path}: no folder above it exists`])],
  };
  return begun(one.node, { ...needs, mounts }, around, before);
}

/** Those of pods and Jobs of the probe, of whatever many others there are. None where this account may not read events. */
async function readEvents(cluster: Ports['cluster'], namespace: string, reason: string): Promise<readonly object[]> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events?fieldSelector=${encodeURIComponent(`reason=${reason}`)}&limit=500`;
  const mine: object[] = [];
  const isMine = (event: object) => textAt(event, 'involvedObject', 'name')?.startsWith(JOB_PREFIX);
  try {
    for await (const page of pagesOf(cluster, path)) mine.push(...page.filter(isMine));
  } catch {
    // What was read so far counts.
  }
  return mine;
}
