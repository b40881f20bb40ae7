import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { stage } from '../../kernel/stage.ts';
import { pullSecretsIn } from '../../manifest/images.ts';
import { defaultWaitMs, readNodes } from '../rollout/index.ts';
import { PROBE_LABEL, readInstalled } from '../survey/index.ts';
import { type ImageProbeJudged, imagesPulled } from './checks.ts';
import { PROBE_NAME, probeDaemonSet, probeText, readImageProbe } from './image-probe.ts';
import { readTargetImages, type TargetImages } from './target-images.ts';

interface ProbeFacts extends ImageProbeJudged {
  readonly images: readonly string[];
  readonly pullSecrets: readonly string[];
  readonly namespace: string;
  /** Probes that killed runs left. */
  readonly leftOver: readonly KubeObject[];
  readonly nodes: number;
}

/** File in the work folder with what the nodes said. */
const RESULTS = 'probe-images.json';

/** Whether every node can pull every image of the target, and run its programs: asked with pods that are deleted at once (field notes, 28). */
export const probeImagesStage = stage<ProbeFacts>({
  id: 'probe-images',
  title: 'Have every node pull the images of the target',
  ref: 'domain §12',
  readOnly: false,
  optional: true,
  leavesNothing: true,
  checks: [imagesPulled],
  survey: surveyProbe,
  plan(facts, context) {
    const leftOver = facts.leftOver.map(removal);
    if (!facts.probed) return { actions: [...leftOver, probe(facts, context)], notes: facts.unknown, again: true };
    return leftOver.length > 0 ? { actions: leftOver } : { skip: 'every node has said what it can pull' };
  },
});

async function surveyProbe(sources: Sources, context: Context): Promise<ProbeFacts> {
  const { cluster, work } = sources;
  const [leftOver, text, installation] = await Promise.all([
    cluster.list(K.DaemonSet, { labelSelector: `${PROBE_LABEL}=images` }),
    work.read(RESULTS),
    readInstalled(sources, context),
  ]);
  const saved = readImageProbe(text);
  const probed = saved?.run === runOf(context) ? saved.results : undefined;
  if (probed) return { probed, leftOver, unknown: [], images: [], pullSecrets: [], namespace: '', nodes: 0 };
  const [target, nodes] = await Promise.all([readTargetImages(sources, context, installation), readNodes(sources)]);
  const namespace = installation.agent?.namespace ?? context.options.stateNamespace;
  const pullSecrets = await readPullSecrets(cluster, namespace, installation, target);
  const { images, unknown } = target;
  return { probed, leftOver, unknown, images, pullSecrets, namespace, nodes: nodes.length };
}

/** Those of the target in that namespace, and those that the agents pull with today. */
async function readPullSecrets(
  cluster: ClusterReader,
  namespace: string,
  { agent }: Installation,
  { pullSecrets }: TargetImages,
): Promise<readonly string[]> {
  const live = agent && (await cluster.get(K.DaemonSet, agent.name, agent.namespace));
  const all = [...pullSecrets, ...(live ? pullSecretsIn([live]) : [])];
  const here = all.filter((one) => one.startsWith(`${namespace}/`)).map((one) => one.slice(namespace.length + 1));
  return [...new Set(here)].toSorted();
}

/** Tells what this run was told from what another one was. */
function runOf({ startedAt }: Context): string {
  return startedAt.toISOString();
}

function removal(object: KubeObject, index: number): Action {
  return {
    id: `left-over-${index + 1}`,
    title: `delete ${probeText(object)}, which a killed run left`,
    ref: 'domain §12',
    undo: 'full',
    effect: { type: 'delete', target: refOf(object) },
  };
}

function probe({ images, pullSecrets, namespace, nodes }: ProbeFacts, context: Context): Action {
  const daemonSet = probeDaemonSet({ namespace, images, pullSecrets, versionCommands: context.profile.versionCommands ?? {} });
  return {
    id: 'probe',
    title: `have ${counted(nodes, 'node')} pull ${counted(images.length, 'image')} with DaemonSet ${namespace}/${PROBE_NAME}, then delete it`,
    ref: 'domain §12',
    undo: 'full',
    effect: {
      type: 'probe-images',
      daemonSet,
      images,
      run: runOf(context),
      saveAs: RESULTS,
      timeoutMs: context.options.timeoutMs ?? defaultWaitMs(1),
    },
  };
}
