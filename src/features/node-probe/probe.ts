import { eachOf } from '../../kernel/each-of.ts';
import type { Around, EnginePorts } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refOf } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { AGAIN } from '../../kernel/step.ts';
import { pagesOf } from '../rollout/index.ts';
import type { AgentNeeds, HostMount } from './agent-needs.ts';
import { type ProbedImage, probedImages } from './image-probe.ts';
import { JOB_PREFIX, NODE_PROBES, type ProbeParts, probeJob } from './job.ts';
import { agentSaid, leanProbe, missingMount, type NodeSaid, podOfJob, refusal, without } from './said.ts';

/** Nodes that are tried at the same time: at most this number of pods is in memory, and pulls its images at once. */
const WAVE = 50;
/** Requests in flight that create or delete Jobs. */
const WIDTH = 8;
const APART_MS = 2_000;
/** A Job whose pod is refused never gets one. */
const CREATED_MS = 15_000;
/** Folders above a mount that are tried, over all its mounts. */
const MOST_TRIES = 12;

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;

export interface Probe extends Omit<ProbeParts, 'id' | 'node' | 'part' | 'endsAfter'> {
  readonly nodes: readonly string[];
  /** Of one wave. */
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
  readonly faults: readonly string[];
  readonly untried: readonly string[];
}

/** Every node in waves: a Job on each, until each has said everything or its time is up. Throws Fault('interrupted') when stopped. */
export async function probeNodes(probe: Probe, ports: Ports, told: Told): Promise<Probed> {
  const all: Probed[] = [];
  const id = ports.clock.now().getTime().toString(36);
  for (let first = 0; first < probe.nodes.length; first += WAVE) {
    const here = (count: number) => told.report(first + count, probe.nodes.length, 'nodes tried');
    all.push(await wave(probe.nodes.slice(first, first + WAVE), { probe, ports, told, id, first, here }));
  }
  return { results: all.flatMap(({ results }) => results), nodes: all.flatMap(({ nodes }) => nodes) };
}

interface Wave {
  readonly probe: Probe;
  readonly ports: Ports;
  readonly told: Told;
  readonly id: string;
  readonly first: number;
  here(count: number): void;
}

async function wave(names: readonly string[], around: Wave): Promise<Probed> {
  const { probe, ports, told } = around;
  const found = new Map(
    (await eachOf(names, WIDTH, (name) => ports.cluster.get(K.Node, name))).flatMap((one) => (one ? [[one.metadata.name, one]] : [])),
  );
  const gone = names.filter((name) => !found.has(name));
  const until = ports.clock.now().getTime() + probe.timeoutMs;
  let tried = await eachOf([...found.values()], WIDTH, (node) => begun(node, probe.needs, around));
  for (;;) {
    const seen = await lookAt(tried, around);
    const open = seen.filter(({ isOpen }) => isOpen);
    around.here(names.length - open.length);
    const isOver = open.length === 0 || ports.clock.now().getTime() >= until;
    if (isOver) {
      await eachOf(tried, WIDTH, ({ job }) => removed(job, around));
      return {
        results: seen.flatMap(({ images }) => images),
        nodes: [...seen.map(({ said }) => said), ...gone.map((node) => ({ node, faults: [], untried: ['everything: the node is gone'] }))],
      };
    }
    if (told.stop.aborted) throw new Fault('interrupted', 'stopped while nodes were tried; the Jobs are deleted', [AGAIN]);
    tried = await eachOf(seen, WIDTH, (one) => one.next?.() ?? Promise.resolve(one.tried));
    await ports.clock.sleep(APART_MS, told.stop).catch(() => undefined);
  }
}

async function begun(
  node: KubeObject,
  needs: AgentNeeds | undefined,
  { probe, ports, told, id, first }: Wave,
  before?: Tried,
): Promise<Tried> {
  const { name } = node.metadata;
  const tries = (before?.tries ?? 0) + 1;
  const part = `${probe.nodes.indexOf(name, first) + 1}-${tries}`;
  const document = probeJob({ ...probe, needs, id, node: name, part, endsAfter: Math.ceil(probe.timeoutMs / 1000) + 30 });
  const job = await ports.cluster.create(K.Job, document);
  told.created(refOf(job));
  return { node, needs, job, tries, faults: before?.faults ?? [], untried: before?.untried ?? [] };
}

async function removed(job: KubeObject, { ports, told }: Wave): Promise<void> {
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

async function lookAt(tried: readonly Tried[], around: Wave): Promise<readonly Seen[]> {
  const { cluster, clock } = around.ports;
  const { namespace, images } = around.probe;
  const pods = await cluster.list(K.Pod, { namespace, labelSelector: NODE_PROBES, keep: leanProbe });
  const now = clock.now().getTime();
  const paired = tried.map((one) => ({ one, pod: podOfJob(pods, one.job) }));
  const isQuiet = ({ one, pod }: (typeof paired)[number]) => !pod || (one.needs !== undefined && !agentSaid(pod, one.needs).isOver);
  const eventsOf = (reason: string) => readEvents(cluster, namespace, reason);
  const [mounts, refused] = paired.some(isQuiet) ? await Promise.all([eventsOf('FailedMount'), eventsOf('FailedCreate')]) : [[], []];
  const heard = { mounts, refused, images, now };
  return paired.map(({ one, pod }) => seenOf(one, pod, heard, around));
}

interface Heard {
  /** Events about volumes, and about pods that were not created. */
  readonly mounts: readonly object[];
  readonly refused: readonly object[];
  readonly images: readonly string[];
  readonly now: number;
}

function seenOf(one: Tried, pod: KubeObject | undefined, { mounts, refused, images, now }: Heard, around: Wave): Seen {
  const { node, needs, job } = one;
  const results = probedImages(new Map(pod ? [[node.metadata.name, pod]] : []), [node], images, now);
  const agent = pod && needs ? agentSaid(pod, needs) : { faults: [], untried: [], isOver: needs === undefined };
  const missing = pod && needs && !agent.isOver ? missingMount(mounts, pod.metadata.name, needs.mounts) : undefined;
  if (missing && one.tries < MOST_TRIES) {
    const next = () => tryAgain(one, { mount: missing.mount, instead: undefined, fault: undefined, ...without(missing) }, around);
    return { tried: one, said: saidOf(one, {}), images: results, isOpen: true, next };
  }
  const noPod = pod ? undefined : refusal(refused, job.metadata.name);
  const isHopeless = !pod && (noPod !== undefined || now - Date.parse(job.metadata.creationTimestamp ?? '') > CREATED_MS);
  const isUntold = !agent.isOver || results.some(({ state }) => state === 'untold');
  const why = noPod ?? missing?.says ?? results.find(({ state }) => state !== 'pulled')?.because ?? 'no answer of the node yet';
  return {
    tried: one,
    said: saidOf(one, { ...agent, untried: [...agent.untried, ...(agent.isOver ? [] : [`the agent: ${why}`])] }),
    images: noPod === undefined ? results : results.map((each) => ({ ...each, because: noPod })),
    isOpen: isUntold && !isHopeless && !isAway(results),
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
async function tryAgain(one: Tried, { mount, instead, fault }: Change, around: Wave): Promise<Tried> {
  await removed(one.job, around);
  const { needs } = one;
  if (!needs) return one;
  const mounts = needs.mounts.flatMap((each) => {
    if (each.volume !== mount.volume) return [each];
    return instead ? [{ ...each, path: instead.path, type: instead.type }] : [];
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
