import { command, repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { type Around, announced, type EffectTypes, type EnginePorts, type Performed, whole } from '../../kernel/effect-type.ts';
import { Fault, HeldFault, LeftFault, leftText, MovedOn, messageOf, stepsAfter } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import { type ObjectRef, refText } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import type { RolloutTarget } from '../../kernel/rollout.ts';
import { look, means, text } from '../../kernel/step.ts';
import { waitRollout } from '../rollout/index.ts';
import { hasOrHave, isOrAre, nodesText } from './choice.ts';
import { AgentDriver, type Driven, heldAgents } from './driver.ts';
import { lookAtNewPods } from './last-look.ts';
import { rollOps, strategyWords } from './own-strategy.ts';

/** Deletes the old agents of these nodes, or all of them, while the DaemonSet replaces none by itself: their successors are of the new template. */
interface ReplaceAgents extends Driven {
  readonly type: 'replace-agents';
  readonly target: RolloutTarget;
  /** That of the agents' pods. */
  readonly selector: string;
  readonly maxFailed: number;
  /** For each step of as many as may be away at a time. */
  readonly timeoutMs: number;
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
  readonly target: RolloutTarget;
  readonly nodes: readonly string[];
  /** Those that the run chose before. */
  readonly before: readonly string[];
  /** To an older release: how many agents are taken back. Most of the others were never upgraded, and are as new. */
  readonly back?: number;
  readonly release: string;
  /** Of the agents' pods. */
  readonly selector: string;
  readonly maxFailed: number;
  readonly timeoutMs: number;
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'replace-agents': ReplaceAgents;
    readonly 'roll-agents': RollAgents;
    readonly 'stop-canary': StopCanary;
  }
}

type Ports = Pick<EnginePorts, 'cluster' | 'clock'>;

async function replace(ports: EnginePorts, effect: ReplaceAgents, around: Around): Promise<Performed> {
  const { target, maxFailed, timeoutMs, heldFor } = effect;
  const driver = new AgentDriver(ports, effect, around);
  const wait = { targets: [target], maxFailed, timeoutMs, heldFor, driver, signal: around.stop, onProgress: around.onProgress };
  const progress = await waitRollout(ports.cluster, ports.clock, wait).catch((thrown: unknown) => {
    throw endedEarly(thrown, driver, around);
  });
  const { nodes = [] } = effect;
  const isGone = driver.replaced === 0 && nodes.length > 0 && progress.every(({ pods }) => pods.every(({ phase }) => phase !== 'new'));
  // What follows waits for the agent of such a node.
  if (heldFor === 'rest' && isGone) throw new MovedOn(`no agent is left to replace on ${nodesText(nodes)}`);
  return { detail: counted(driver.replaced, 'agent') };
}

/** What of the user's commands is not done, beside why. */
function endedEarly(thrown: unknown, driver: AgentDriver, { warn }: Pick<Around, 'warn'>): unknown {
  const left = leftText(driver);
  if (thrown instanceof MovedOn) {
    // The stage is planned again, and may come to its end.
    if (left !== '') warn(`${thrown.message}; ${left}`);
    return new MovedOn(thrown.message, undefined, driver.replaced > 0, [
      ...driver.left.map((one) => `${one}, unless this run has come to it since`),
      ...driver.owed,
    ]);
  }
  if (left === '') return thrown;
  return new LeftFault(thrown instanceof Fault ? thrown : new Fault('failed', messageOf(thrown), stepsAfter(thrown), thrown), driver);
}

async function roll(ports: Ports, { agents, strategy, staysOurs }: RollAgents, { mustHold }: Pick<Around, 'mustHold'>): Promise<Performed> {
  const live = await heldAgents(ports, agents);
  mustHold();
  const patch = rollOps(live, strategy, staysOurs);
  await ports.cluster.patch(K.DaemonSet, { ...agents, uid: live.metadata.uid ?? '' }, patch, 'kubectl').catch(moved(agents));
  return { detail: strategyWords(strategy) };
}

const moved =
  (ref: ObjectRef) =>
  (thrown: unknown): never => {
    const has = thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status);
    throw has ? new MovedOn(`${refText(ref)} changed meanwhile: ${messageOf(thrown)}`) : thrown;
  };

/** What there is of a canary that is well. */
interface Seen {
  readonly nodes: readonly string[];
  /** Other nodes whose agent is new. */
  readonly others: readonly string[];
  readonly of: number;
}

/** Since its agents were ready the network may have been probed for minutes, and nodes may have joined. */
async function seeCanary(ports: Ports, effect: StopCanary, { stop: signal, onProgress }: Around): Promise<Seen> {
  const { target, nodes: only, before, back, maxFailed, timeoutMs } = effect;
  const wait = { targets: [target], only, heldFor: 'canary', maxFailed, timeoutMs, signal, onProgress } as const;
  const progress = await waitRollout(ports.cluster, ports.clock, wait);
  const all = [...new Set(progress.flatMap(({ pods }) => pods.map(({ node }) => node)))].toSorted();
  const chosen = new Set([...only, ...before]);
  const [nodes = [], others = []] = [true, false].map((isChosen) => all.filter((node) => chosen.has(node) === isChosen));
  return { nodes, others: back === undefined ? others : [], of: back ?? progress.reduce((sum, { all: count = 0 }) => sum + count, 0) };
}

async function stop(ports: Ports, effect: StopCanary, around: Around): Promise<Performed> {
  const { release, selector, maxFailed } = effect;
  const { namespace = '' } = effect.agents;
  await heldAgents(ports, effect.agents);
  const before = await seeCanary(ports, effect, around);
  const looked = { namespace, selector, nodes: [...before.nodes, ...before.others], maxFailed };
  const { step: seen, tookTime } = await lookAtNewPods(ports, looked, around);
  const { nodes, others, of } = tookTime ? await seeCanary(ports, effect, around) : before;
  await heldAgents(ports, effect.agents);
  const apart = others.length === 0 ? '' : `; ${nodesText(others)} ${hasOrHave(others)} it too, though not chosen`;
  const fact = `the canary runs: ${nodes.length} of ${counted(of, 'agent')} ${hasOrHave(nodes)} ${release} and ${isOrAre(nodes)} ready (${nodesText(nodes)})${apart}`;
  throw new HeldFault(fact, [
    look(text`${command`kubectl -n ${namespace} get pods -o wide -l ${selector}`}`),
    seen,
    means(
      'no other agent is replaced until you continue; new nodes, and agents that somebody deletes, get the release that the run installs meanwhile',
    ),
    text`continue, with all other agents: ${command`kubectl netsvc-upgrade commit`}`,
  ]);
}

/** As a user would do it for one node after another. */
function textOf({ agents: { namespace = '' }, selector, nodes, hooks }: ReplaceAgents): string {
  const node = nodes?.length === 1 ? nodes[0] : 'NODE';
  const one = repairCommand`kubectl -n ${namespace} delete pod -l ${selector} --field-selector ${`spec.nodeName=${node}`}`;
  const where = nodes === undefined ? ', for each node' : nodes.length === 1 ? '' : `, for ${nodesText(nodes)}`;
  const around = hooks.length === 0 ? '' : `, with ${hooks.map((name) => `--${name}`).join(' and ')} around each`;
  return `${one.plain}${where}${around}`;
}

export const canaryEffects: Pick<EffectTypes, 'replace-agents' | 'roll-agents' | 'stop-canary'> = {
  'replace-agents': {
    does: 'writes',
    isFixed: true,
    perform: replace,
    dryRun: announced,
    text: textOf,
    mask: whole,
    // Of a run that is resumed some are done already, and another one is the first.
    digest: ({ type, agents: { name, namespace }, heldFor, nodes = [], done = [], hooks }) => ({
      ...{ type, name, namespace, hooks },
      nodes: heldFor === 'canary' ? [...done, ...nodes].toSorted() : undefined,
    }),
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
    text: ({ nodes, before, release }) => {
      const all = [...nodes, ...before].toSorted();
      return `stop for you: only ${nodesText(all)} ${hasOrHave(all)} ${release}`;
    },
    mask: whole,
    digest: ({ type, nodes }) => ({ type, nodes }),
  },
};
