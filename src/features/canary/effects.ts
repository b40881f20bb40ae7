import { command, removingCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { type Around, announced, type EffectTypes, type EnginePorts, type Performed, whole } from '../../kernel/effect-type.ts';
import { Fault, MovedOn, messageOf } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type KubeObject, type ObjectRef, refText } from '../../kernel/object.ts';
import { patchOf } from '../../kernel/object-change.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import { or, seeWhy, text } from '../../kernel/step.ts';
import { shapeOf } from '../survey/index.ts';
import { nodesText } from './choice.ts';
import { isHeld, rollOps } from './own-strategy.ts';

/** Deletes the old agent of one node while the DaemonSet replaces none by itself: its new one is of the new template. */
interface ReplaceAgent {
  readonly type: 'replace-agent';
  readonly agents: ObjectRef;
  readonly node: string;
  /** With its UID. */
  readonly pod: ObjectRef;
}

/** The DaemonSet replaces its agents by itself again. */
interface RollAgents {
  readonly type: 'roll-agents';
  readonly agents: ObjectRef;
  readonly strategy: unknown;
  /** The strategy is for this run alone. */
  readonly staysOurs: boolean;
}

/** The agents of the canary run: the user decides how it continues. */
interface StopCanary {
  readonly type: 'stop-canary';
  readonly agents: ObjectRef;
  readonly nodes: readonly string[];
  readonly others: readonly string[];
  readonly of: number;
  readonly release: string;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'replace-agent': ReplaceAgent;
    readonly 'roll-agents': RollAgents;
    readonly 'stop-canary': StopCanary;
  }
}

type Ports = Pick<EnginePorts, 'cluster'>;

/** The DaemonSet, held by this program. Throws MovedOn where somebody gave it another strategy meanwhile. */
async function heldAgents({ cluster }: Ports, { name, namespace = '' }: ObjectRef): Promise<KubeObject> {
  const live = await cluster.get(K.DaemonSet, name, namespace);
  if (live && isHeld(live)) return live;
  throw new MovedOn(`DaemonSet ${namespace}/${name} has another update strategy by now`);
}

async function replace(ports: Ports, { agents, pod, node }: ReplaceAgent, { mustHold }: Pick<Around, 'mustHold'>): Promise<Performed> {
  await heldAgents(ports, agents);
  mustHold();
  await ports.cluster.remove(K.Pod, pod).catch(moved(pod));
  return { detail: node };
}

async function roll(ports: Ports, { agents, strategy, staysOurs }: RollAgents, { mustHold }: Pick<Around, 'mustHold'>): Promise<Performed> {
  const live = await heldAgents(ports, agents);
  mustHold();
  const { patch } = patchOf(live, rollOps(live, strategy, staysOurs));
  await ports.cluster.patch(K.DaemonSet, { ...agents, uid: live.metadata.uid ?? '' }, patch, 'kubectl').catch(moved(agents));
  return { detail: shapeOf(live).spec?.updateStrategy?.type };
}

const moved =
  (ref: ObjectRef) =>
  (thrown: unknown): never => {
    const has = thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
    throw has ? new MovedOn(`${refText(ref)} changed meanwhile: ${messageOf(thrown)}`) : thrown;
  };

async function stop(_: EnginePorts, { agents, nodes, others, of, release }: StopCanary): Promise<Performed> {
  const apart = others.length === 0 ? '' : `; ${nodesText(others)} has it too: a node that joined, or whose agent somebody deleted`;
  const { name, namespace = '' } = agents;
  const fact = `the canary runs: ${nodes.length} of ${counted(of, 'agent')} have ${release} and are ready (${nodesText(nodes)})${apart}. No other agent is replaced until you continue`;
  throw new Fault('stopped', fact, [
    seeWhy(command`kubectl -n ${namespace} get pods -o wide -l ${`k8s-app=${name}`}`),
    'new nodes, and agents that somebody deletes, get the new release meanwhile',
    text`continue, with all other agents: ${command`kubectl netsvc-upgrade commit`}`,
    or('go back, as undo says'),
  ]);
}

export const canaryEffects: Pick<EffectTypes, 'replace-agent' | 'roll-agents' | 'stop-canary'> = {
  'replace-agent': {
    does: 'writes',
    isFixed: true,
    perform: replace,
    dryRun: announced,
    text: ({ pod: { name, namespace = '' } }) => removingCommand`kubectl -n ${namespace} delete pod ${name}`.plain,
    mask: whole,
    digest: ({ type, agents, node }) => ({ type, agents, node }),
  },
  'roll-agents': {
    does: 'writes',
    isFixed: true,
    perform: roll,
    dryRun: announced,
    text: ({ agents: { name, namespace = '' }, strategy }) =>
      command`kubectl -n ${namespace} patch daemonset ${name} --type=merge -p ${JSON.stringify({ spec: { updateStrategy: strategy } })}`
        .plain,
    mask: whole,
    digest: ({ type, agents: { name, namespace }, strategy }) => ({ type, name, namespace, strategy }),
  },
  'stop-canary': {
    does: 'nothing',
    isFixed: false,
    stops: true,
    perform: stop,
    dryRun: announced,
    text: ({ nodes }) => `stop for you: only ${nodesText(nodes)} ${nodes.length === 1 ? 'has' : 'have'} the new release`,
    mask: whole,
    digest: ({ type, nodes }) => ({ type, nodes }),
  },
};
