import type { Context } from '../../kernel/context.ts';
import { mapAt, parsedJson } from '../../kernel/json.ts';
import { acceptsSubject } from '../../kernel/judge.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { WorkFolder } from '../../kernel/ports.ts';
import { type ContainerStatus, conditionOf, NOT_YET, nodeFacts, podShape } from '../../kube/pod-facts.ts';
import type { PulledImages } from '../survey/index.ts';
import { NO_PROGRAM } from './job.ts';
import type { NodeSaid } from './said.ts';

/** What one node says of one image. */
export interface ProbedImage {
  readonly node: string;
  readonly image: string;
  /** `untold`: the node has said nothing yet, or has no pod of the probe; `away`: it is not ready, so nothing is to be expected. */
  readonly state: 'pulled' | 'failed' | 'untold' | 'away';
  readonly because: string;
}

/** Written by the engine when the probe is over, read by the stage. */
export interface ImageProbe {
  /** Start of the run that asked. */
  readonly run: string;
  /** Whose images they are. */
  readonly release: string;
  readonly results: readonly ProbedImage[];
  readonly nodes: readonly NodeSaid[];
}

/** Reasons of a container that waits for its image and will not get it; every other reason comes after the pull. */
const NOT_PULLED = new Set([
  ...['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull', 'RegistryUnavailable', 'ImageInspectError'],
  'SignatureValidationFailed',
]);

/** Exit codes of a program that this machine cannot run, whatever it was asked. */
const CANNOT_RUN: Readonly<Record<number, string>> = {
  127: 'its loader refuses the processor, or a library is missing',
  132: 'illegal instruction',
  139: 'segmentation fault',
};
/** Milliseconds after which a program that prints its version has shown that it can run. */
const RUNS_AFTER_MS = 3_000;

/**
 * What every node says of every image, by the pod that it has of the probe. `images` has the container of each, for a webhook may have changed
 * what that pulls; `now` in milliseconds. Known programs print their version; others get a missing command: a container that cannot start proves the pull.
 */
export function probedImages(
  pods: ReadonlyMap<string, KubeObject>,
  nodes: readonly KubeObject[],
  images: ReadonlyMap<string, string>,
  now: number,
): readonly ProbedImage[] {
  return nodes.flatMap((node) => {
    const pod = pods.get(node.metadata.name);
    const { name, ready, reason } = nodeFacts(node);
    return [...images].map(([image, container]): ProbedImage => {
      const said = pod ? saidOf(pod, container, now) : ({ state: 'untold', because: 'not scheduled' } as const);
      if (said.state !== 'untold' || ready) return { node: name, image, ...said };
      return { node: name, image, state: 'away', because: `the node is not ready (${reason})` };
    });
  });
}

function saidOf(pod: KubeObject, named: string, now: number): Pick<ProbedImage, 'state' | 'because'> {
  const { spec, status } = podShape(pod);
  const container = spec?.containers?.find(({ name }) => name === named);
  const told = status?.containerStatuses?.find(({ name }) => name === named);
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (!told)
    return {
      state: 'untold',
      because: scheduled?.status === 'False' ? `not scheduled: ${scheduled.message ?? ''}` : 'no answer of the node yet',
    };
  const { reason = '', message = '' } = told.state?.waiting ?? {};
  if (NOT_PULLED.has(reason)) return { state: 'failed', because: message === '' ? reason : `${reason}: ${message}` };
  if (container?.command && container.command[0] !== NO_PROGRAM) return programSaid(told, now);
  const ran = told.state?.running ?? told.state?.terminated ?? told.lastState?.terminated;
  if (ran || told.imageID || !NOT_YET.has(reason)) return { state: 'pulled', because: reason };
  return { state: 'untold', because: 'still pulling' };
}

function programSaid({ state, lastState }: ContainerStatus, now: number): Pick<ProbedImage, 'state' | 'because'> {
  const ended = state?.terminated ?? lastState?.terminated;
  const fatal = ended && CANNOT_RUN[ended.exitCode ?? 0];
  if (fatal) return { state: 'failed', because: `pulled, but its program cannot run here: exit code ${ended.exitCode} (${fatal})` };
  const { reason = '', message = '' } = state?.waiting ?? {};
  const foreign = [message, ended?.message ?? ''].find((one) => one.includes('exec format error'));
  if (foreign !== undefined) return { state: 'failed', because: `pulled, but it is of another architecture: ${foreign.trim()}` };
  if (ended || !NOT_YET.has(reason)) return { state: 'pulled', because: reason };
  if (!state?.running) return { state: 'untold', because: 'still pulling' };
  const since = Date.parse(state.running.startedAt ?? '');
  return Number.isNaN(since) || now - since >= RUNS_AFTER_MS ? { state: 'pulled', because: '' } : { state: 'untold', because: 'starting' };
}

/** Nodes that are asked: those of another system have no image of this service. */
export function isProbed({ metadata }: KubeObject): boolean {
  return (metadata.labels?.['kubernetes.io/os'] ?? 'linux') === 'linux';
}

/** What was written; undefined for anything else. */
export function readImageProbe(text: string | undefined): ImageProbe | undefined {
  // Where none was written yet, or a copy was interrupted, the nodes are asked again.
  const { run, release, results, nodes } = mapAt(parsedJson(text ?? ''));
  const isProbe = typeof run === 'string' && typeof release === 'string' && Array.isArray(results) && Array.isArray(nodes);
  return isProbe ? { run, release, results, nodes } : undefined;
}

/** File in the work folder with what the nodes said. */
export const RESULTS = 'probe-nodes.json';

/** A registry and the way to it may change: what nodes have said counts for a day. */
const COUNTS_MS = 24 * 3_600_000;

/** What the nodes have said of this release's images. A node that is done without (`--accept NS-221`) is not counted. */
export async function readPulled(work: Pick<WorkFolder, 'read'>, { goal, options, startedAt }: Context): Promise<PulledImages | undefined> {
  const saved = readImageProbe(await work.read(RESULTS));
  const age = startedAt.getTime() - Date.parse(saved?.run ?? '');
  if (saved?.release !== goal.release || !(age >= 0 && age <= COUNTS_MS)) return undefined;
  const failed = saved.results.filter(
    ({ state, node, image }) => state === 'failed' && !acceptsSubject(options, 'NS-221', `${node} ${image}`),
  );
  const pulled = saved.results.filter(({ state, image }) => state === 'pulled' && failed.every((one) => one.image !== image));
  if (pulled.length === 0) return undefined;
  const [images, nodes] = [new Set(pulled.map(({ image }) => image)), new Set(pulled.map(({ node }) => node))];
  return { images: [...images], nodes: nodes.size, at: saved.run };
}
