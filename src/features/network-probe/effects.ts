import { type Around, type EffectTypes, type EnginePorts, type Performed, whole } from '../../kernel/effect-type.ts';
import { messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { ObjectRef } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { slimNode } from '../../kube/lean-objects.ts';
import type { HeldFor } from '../rollout/index.ts';
import { type AgentOnNode, type AgentsOf, chooseNodes, chooseOldNodes, readAgents } from './agents.ts';
import { deniedText, SEE_RIGHTS } from './bound-job.ts';
import { listenerJob } from './jobs.ts';
import { probeNodes } from './probe.ts';
import { sweep } from './sweep.ts';
import { type Found, factsOf, lackTheSame, networkFault, type Probed, reachedText } from './verdict.ts';

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'probe-network': ProbeNetwork;
  }
}

/** Jobs on two nodes whose pods resolve a name and reach each other, deleted again whatever happens. Which nodes is decided when the time has come. */
export interface ProbeNetwork {
  readonly type: 'probe-network';
  readonly image: string;
  readonly namespace: string;
  readonly agents: AgentsOf;
  /** The DaemonSet replaces no further agent meanwhile. */
  readonly heldFor?: HeldFor;
}

export const networkProbeEffects: Pick<EffectTypes, 'probe-network'> = {
  'probe-network': {
    does: 'writes',
    isFixed: false,
    perform: (ports, effect, around) => probeNetwork(ports, effect, around).catch((thrown: unknown) => unmade(around, unanswered(thrown))),
    async dryRun({ cluster }, { image, namespace }) {
      await cluster.dryRunCreate(K.Job, listenerJob({ namespace, image, id: 'dry-run', node: 'any', part: 'listener' }));
      return { detail: 'not created (dry run)' };
    },
    text: ({ image, namespace }) =>
      `create Jobs on an upgraded and another node, in namespace ${namespace} with image ${image}, 4 at a time, until their pods have answered or 4m have passed, then delete them`,
    mask: whole,
    digest: whole,
  },
};

/** An agent that is replaced meanwhile proves nothing: then it is tried once more. */
const TRIES = 2;

/** Throws Fault('stopped') where pods do not reach each other, and Fault('interrupted') if the user stops it. What could not be probed is a warning. */
async function probeNetwork(ports: EnginePorts, effect: ProbeNetwork, around: Around): Promise<Performed> {
  const denied = await deniedText(ports.cluster, effect.namespace);
  if (denied !== undefined) return unmade(around, `${denied}${SEE_RIGHTS}`);
  for (let tried = 1; tried <= TRIES; tried += 1) {
    const { nodes, isRolling } = await nodesFor(ports, effect, chooseNodes);
    if (nodes.length === 0) return unmade(around, 'no node with an upgraded agent takes pods');
    const probed = await probedOn(nodes, ports, effect, around);
    if ('unmade' in probed) return unmade(around, probed.unmade);
    const fault = networkFault(probed.found, { ...effect, isRolling });
    if (!fault) return { detail: reachedText(probed.found), told: reachedText(probed.found) };
    // What was found stands where the API does not say what it may be instead.
    if (await hasMoved(probed.found, ports, effect).catch(undecided)) continue;
    const anyway = await failsAnyway(probed.found, ports, effect, around).catch(undecided);
    if (anyway === undefined) throw fault;
    return unmade(around, anyway);
  }
  return unmade(around, 'agents of the probed nodes were replaced meanwhile');
}

/** Why the API did not answer; anything else is thrown. */
function unanswered(thrown: unknown): string {
  if (thrown instanceof ApiFailure) return messageOf(thrown);
  throw thrown;
}

function undecided(thrown: unknown): undefined {
  unanswered(thrown);
  return undefined;
}

function unmade({ warn }: Around, because: string): Performed {
  const told = `the pod network was not probed: ${because}`;
  warn(told);
  return { detail: 'not probed', told };
}

async function nodesFor({ cluster, clock }: EnginePorts, { agents }: ProbeNetwork, choose: typeof chooseNodes) {
  const [found, nodes] = await Promise.all([readAgents({ cluster, clock }, agents), cluster.list(K.Node, { keep: slimNode })]);
  return { nodes: choose(found, nodes), isRolling: found.some(({ is }) => is !== 'upgraded') };
}

async function probedOn(nodes: readonly AgentOnNode[], ports: EnginePorts, effect: ProbeNetwork, around: Around): Promise<Probed> {
  const created: ObjectRef[] = [];
  try {
    return await probeNodes(nodes, ports, effect, { ...around, created: (job) => created.push(job) });
  } catch (thrown) {
    return { unmade: unanswered(thrown) };
  } finally {
    await sweep(ports, created, around);
  }
}

/** Where pods of old nodes lack the same: a policy of the namespace, for example, or a cluster without DNS. Undefined where that cannot be told. */
async function failsAnyway(found: readonly Found[], ports: EnginePorts, effect: ProbeNetwork, around: Around): Promise<string | undefined> {
  const { nodes } = await nodesFor(ports, effect, chooseOldNodes);
  if (nodes.length === 0) return undefined;
  const compared = await probedOn(nodes, ports, effect, around);
  if ('unmade' in compared || !lackTheSame(compared.found, found) || (await hasMoved(compared.found, ports, effect))) return undefined;
  return `it does not work between nodes that are not upgraded either (${factsOf(compared.found)}); a policy may deny it: try another namespace`;
}

/** True if the agent of a node where something failed is not the one any more that was there before. */
async function hasMoved(found: readonly Found[], { cluster, clock }: EnginePorts, { agents }: ProbeNetwork): Promise<boolean> {
  const now = new Map((await readAgents({ cluster, clock }, agents)).map((one) => [one.node, one]));
  const failed = found.filter(({ lacks }) => lacks !== 'nothing').flatMap(({ from, to }) => [from, to]);
  return failed.some(({ node, uid, is }) => now.get(node)?.uid !== uid || now.get(node)?.is !== is);
}
