import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, refOf } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { stage } from '../../kernel/stage.ts';
import { pullSecretsIn } from '../../manifest/images.ts';
import { defaultWaitMs, readNodes } from '../rollout/index.ts';
import { listed, PROBE_LABEL, readInstalled } from '../survey/index.ts';
import { PROBE_NAME, type ProbedImage, probeDaemonSet, probeText, RESULTS, readImageProbe } from './image-probe.ts';
import { readTargetImages, type TargetImages } from './target-images.ts';

interface ImageProbeJudged {
  /** What the nodes said to this run; undefined before they are asked. */
  readonly probed: readonly ProbedImage[] | undefined;
  /** What of the target's images cannot be known. */
  readonly unknown: readonly string[];
}

/** Severity by what is found: an image that a node cannot pull stops the agents there, a node that says nothing is only named. */
export const imagesPulled: Check<ImageProbeJudged> = {
  id: 'NS-221',
  title: 'nodes can pull the images of the target',
  category: 'nodes',
  severity: 'error',
  ref: 'domain §12',
  judge({ probed, unknown }) {
    if (!probed) return notApplicable('the nodes are asked once this is confirmed');
    const failed = probed.filter(({ state }) => state === 'failed');
    const untold = probed.filter(({ state }) => state === 'untold' || state === 'away');
    const nodes = new Set(probed.map(({ node }) => node)).size;
    const images = new Set(probed.map(({ image }) => image)).size;
    const scope = `${counted(images, 'image')} on ${counted(nodes, 'node')}`;
    if (failed.length + untold.length === 0) return ok([`pulled: ${scope}`, ...unknown].join('; '));
    return verdict(failed, untold, scope);
  },
};

function verdict(failed: readonly ProbedImage[], untold: readonly ProbedImage[], scope: string): Verdict {
  const facts = [
    ...(failed.length > 0 ? [`not pulled, or its program cannot run: ${names(failed)}`] : []),
    ...(untold.length > 0 ? [`not told: ${names(untold)}`] : []),
  ];
  return {
    status: 'failed',
    because: `${facts.join('; ')} (of ${scope})`,
    hint: 'Mirror the images that plan -o images lists to a registry that these nodes can reach, or add the pull secret. Where a program cannot run, the node needs a newer processor model (x86-64-v2). Then probe again.',
    next: command`kubectl netsvc-upgrade plan -o images`,
    ...(failed.length > 0 ? {} : { severity: 'warning' as const }),
    evidence: [...failed, ...untold].map(evidenceOf),
  };
}

function names(results: readonly ProbedImage[]): string {
  return listed(results.map(({ node, image }) => `${image} on ${node}`));
}

/** `node-01 quay.io/calico/node:v3.32.1`, as `--accept` names it. */
function evidenceOf({ node, image, because, state }: ProbedImage): Evidence {
  const object = { apiVersion: 'v1', kind: 'Node', name: node };
  return { text: `${node} ${image}`, object, detail: `${state === 'failed' ? 'failed' : 'untold'}: ${because}` };
}

interface ProbeFacts extends ImageProbeJudged, Pick<TargetImages, 'images' | 'pullSecrets'> {
  readonly namespace: string;
  /** Probes that killed runs left. */
  readonly leftOver: readonly KubeObject[];
  readonly nodes: number;
}

/** Whether every node can pull every image of the target, and run its programs: asked with pods that are deleted at once (field notes, 28). */
export const probeImagesStage = stage<ProbeFacts>({
  id: 'probe-images',
  title: 'Have every node pull the images of the target',
  ref: 'domain §12',
  readOnly: false,
  optional: true,
  leavesNothing: true,
  settles: ['NS-606'],
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
  const namespace = installation.agent?.namespace ?? STATE_NAMESPACE;
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
      release: context.goal.release,
      timeoutMs: context.options.timeoutMs ?? defaultWaitMs(1),
    },
  };
}
