import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { eachOf } from '../../kernel/each-of.ts';
import type { Installation } from '../../kernel/installation.ts';
import { textAt } from '../../kernel/json.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { STATE_NAMESPACE } from '../../kernel/run-record.ts';
import { stage } from '../../kernel/stage.ts';
import { slimNode } from '../../kube/lean-objects.ts';
import { fitsNode } from '../../kube/node-fit.ts';
import { imageList, imagesIn, pullSecretsIn } from '../../manifest/images.ts';
import { needs } from '../rights/index.ts';
import { waitLimit } from '../rollout/index.ts';
import { isImageOf, listed, readInstalled } from '../survey/index.ts';
import { type AgentNeeds, agentNeeds } from './agent-needs.ts';
import { chooseProbed } from './choice.ts';
import { isProbed, type ProbedImage, RESULTS, readImageProbe } from './image-probe.ts';
import type { NodeSaid } from './said.ts';
import { readTargetImages, type TargetImages } from './target-images.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Nodes that the target is tried on: all, a number, a share or a selector. */
    readonly probeNodes?: string;
  }
}

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

/** Severity by what is found: what keeps the agent from its work is an error, what could not be tried is only named. */
export const agentStarts: Check<NodesJudged> = {
  id: 'NS-431',
  title: 'nodes give the new agent what it needs',
  category: 'nodes',
  severity: 'error',
  ref: 'domain §12',
  judge({ said }) {
    if (!said) return notApplicable('the nodes are tried once this is confirmed');
    const faulty = said.filter(({ faults }) => faults.length > 0);
    const untried = said.filter((one) => one.untried.length > 0);
    if (faulty.length + untried.length === 0) return ok(`${counted(said.length, 'node')} tried: mounts, folders, ports and names`);
    const facts = [
      ...grouped(
        faulty.flatMap(({ node, faults }) => faults.map((what) => ({ node, what }))),
        '',
      ),
      ...grouped(
        untried.flatMap((one) => one.untried.map((what) => ({ node: one.node, what }))),
        'not tried: ',
      ),
    ];
    return {
      status: 'failed',
      because: `${facts.join('; ')} (of ${counted(said.length, 'node')})`,
      hint: 'Correct the node, or choose a target that does not need it, before the upgrade. Then try the nodes again.',
      next: command`kubectl get node ${(faulty[0] ?? untried[0])?.node} -o yaml`,
      ...(faulty.length > 0 ? {} : { severity: 'warning' as const }),
      evidence: [...new Set([...faulty, ...untried])].map(nodeEvidence),
    };
  },
};

/** `/sys/fs is not shared: node-01, node-02 and 3 more`: each fact once, with its nodes. */
function grouped(facts: readonly { readonly node: string; readonly what: string }[], before: string): readonly string[] {
  const byFact = Map.groupBy(facts, ({ what }) => what);
  return [...byFact].map(([what, all]) => `${before}${what}: ${listed(all.map(({ node }) => node))}`);
}

function nodeEvidence({ node, faults, untried }: NodeSaid): Evidence {
  const detail = [...faults, ...untried.map((one) => `not tried: ${one}`)].join('; ');
  return { text: node, object: { apiVersion: 'v1', kind: 'Node', name: node }, detail };
}

interface NodesJudged {
  /** What the nodes said to this run; undefined before they are asked. */
  readonly said: readonly NodeSaid[] | undefined;
}

interface ProbeFacts extends ImageProbeJudged, NodesJudged, Pick<TargetImages, 'images' | 'pullSecrets'> {
  readonly namespace: string;
  readonly needs: AgentNeeds | undefined;
  readonly nodes: readonly string[];
}

/** Whether nodes can pull the target's images, run its programs and give its agent what it needs. Tried with Jobs that are deleted at once (field notes, 28). */
export const probeNodesStage = stage<ProbeFacts>({
  id: 'probe-nodes',
  title: 'Try the target on the nodes',
  ref: 'domain §12',
  readOnly: false,
  needs: [needs.probe],
  optional: true,
  leavesNothing: true,
  settles: ['NS-606'],
  checks: [imagesPulled, agentStarts],
  survey: surveyProbe,
  plan(facts, context) {
    if (facts.probed) return { skip: 'the nodes have said what they can' };
    const privileged = facts.needs?.isPrivileged ? [privilegedText(facts.needs)] : [];
    return { actions: [probe(facts, context)], notes: [...facts.unknown, ...privileged, ...(facts.needs ? [] : [NO_AGENT])], again: true };
  },
});

const NO_AGENT = 'mounts, ports and names are not tried: the template of the agents is not known';

function privilegedText({ mounts }: AgentNeeds): string {
  const shared = mounts.filter(({ propagation }) => propagation === 'Bidirectional').map(({ path }) => path);
  return `the pods are privileged, as those of the target’s agents are: they mount ${listed(shared)} with propagation Bidirectional, read-only. They run a script that reads, as user 65534. Confirming this agrees to it`;
}

async function surveyProbe(sources: Sources, context: Context): Promise<ProbeFacts> {
  const { work } = sources;
  const [text, installation] = await Promise.all([work.read(RESULTS), readInstalled(sources, context)]);
  const saved = readImageProbe(text);
  const isOurs = saved?.run === runOf(context);
  const nothing = { unknown: [], images: [], pullSecrets: [], namespace: '', needs: undefined, nodes: [] };
  if (saved && isOurs) return { probed: saved.results, said: saved.nodes, ...nothing };
  const target = await readTargetImages(sources, context, installation);
  const namespace = installation.agent?.namespace ?? STATE_NAMESPACE;
  const { agent } = installation;
  const live = agent && (await sources.cluster.get(K.DaemonSet, agent.name, agent.namespace));
  const needs = await readNeeds(sources, context, { installation, live, target });
  const nodes = await readProbed(sources, context, target.daemonSet ?? live);
  return {
    ...{ probed: undefined, said: undefined, unknown: target.unknown, images: target.images, namespace, needs, nodes },
    pullSecrets: pullSecretsOf(namespace, live, target),
  };
}

/** Those of the target in that namespace, and those that the agents pull with today. */
function pullSecretsOf(namespace: string, live: KubeObject | undefined, { pullSecrets }: TargetImages): readonly string[] {
  const all = [...pullSecrets, ...(live ? pullSecretsIn([live]) : [])];
  const here = all.filter((one) => one.startsWith(`${namespace}/`)).map((one) => one.slice(namespace.length + 1));
  return [...new Set(here)].toSorted();
}

interface Known {
  readonly installation: Installation;
  readonly live: KubeObject | undefined;
  readonly target: TargetImages;
}

/** By the target's own manifest with the user's changes; where an operator renders the agents, by those that run, with what it adds to them. */
async function readNeeds(
  { cluster }: Sources,
  { profile, goal }: Context,
  { installation, live, target }: Known,
): Promise<AgentNeeds | undefined> {
  const template = target.daemonSet ?? live;
  const image = template && agentImage(target, profile);
  if (!template || image === undefined) return undefined;
  const { endpoint } = profile.operator;
  const places = [installation.agent?.namespace, installation.operator?.namespace].filter((one) => one !== undefined);
  const maps = endpoint ? await eachOf(places, 2, (namespace) => cluster.get(K.ConfigMap, endpoint.configMap, namespace)) : [];
  const [apiHost] = maps.flatMap((map) => textAt(map?.data, endpoint?.hostKey ?? '') ?? []);
  return agentNeeds(template, image, {
    ...{ profile, release: goal.release, source: installation.release, live, apiHost },
    ...{ isEbpf: installation.dataPlane === 'ebpf', isRunning: target.daemonSet === undefined },
  });
}

function agentImage({ images, daemonSet }: TargetImages, { images: { agent } }: Profile): string | undefined {
  const own = daemonSet ? imageList(imagesIn([daemonSet])) : images;
  return own.find((image) => isImageOf(image, agent));
}

/** Nodes that the agents of the target run on, as far as they were asked for. */
async function readProbed({ cluster }: Sources, { options }: Context, daemonSet: KubeObject | undefined): Promise<readonly string[]> {
  const nodes = await cluster.list(K.Node, { keep: slimNode });
  const all = nodes.filter((node) => isProbed(node) && (!daemonSet || fitsNode(daemonSet, node)));
  return chooseProbed(cluster, options.probeNodes ?? 'all', all);
}

/** Tells what this run was told from what another one was. */
function runOf({ startedAt }: Context): string {
  return startedAt.toISOString();
}

function probe({ images, pullSecrets, namespace, nodes, needs }: ProbeFacts, context: Context): Action {
  const versionCommands = context.profile.versionCommands ?? {};
  const timeoutMs = waitLimit(context.options, 1);
  return {
    id: 'probe',
    title: `try ${counted(images.length, 'image')}${needs ? ' and what the agent needs' : ''} on ${counted(nodes.length, 'node')} with a ${needs?.isPrivileged ? 'privileged ' : ''}Job on each in namespace ${namespace}, then delete it`,
    ref: 'domain §12',
    undo: 'full',
    effect: {
      type: 'probe-nodes',
      probe: { nodes, images, pullSecrets, namespace, needs, versionCommands, timeoutMs },
      run: runOf(context),
      release: context.goal.release,
    },
  };
}
