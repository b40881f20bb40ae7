import type { Action } from '../../kernel/action.ts';
import { command } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import { look, text } from '../../kernel/step.ts';
import { NO_RETURNS } from '../../kernel/undo.ts';
import { unattributed } from '../../kube/lean-objects.ts';
import { objectsIn } from '../../manifest/manifest.ts';
import { chartOperatorImage, isDeployed } from '../install-chart/index.ts';
import {
  addOnsOf,
  applyCrds,
  type CrdFacts,
  changes,
  readCrdFacts,
  readTarget,
  stoppedOperator,
  targetsOf,
  variantOf,
} from '../install-manifest/index.ts';
import {
  type CrdsJudged,
  crdsChecks,
  operatorEnd,
  operatorImage,
  readExpectation,
  readHealth,
  stillBringing,
} from '../install-operator/index.ts';
import { agentsOfTarget, probeAtEnd, probeBetween } from '../network-probe/index.ts';
import type { Awaited } from '../ownerrefs/index.ts';
import {
  type OtherPodsJudged,
  otherPodsOf,
  othersRunning,
  readNodes,
  readRollouts,
  rolloutTarget,
  rolloutWait,
  SETTLED_BY_ROLLOUT,
  WATCHED_NAMESPACE,
} from '../rollout/index.ts';
import { attempt, hasFullManifest, isOperated, pathStage } from '../survey/index.ts';

interface WaitFacts extends OtherPodsJudged {
  /** Their pods, of which there may be thousands, are not kept: the wait reads its own. */
  readonly progress: readonly Pick<RolloutProgress, 'target' | 'done'>[];
  readonly nodes: number;
  /** The DaemonSet of the agents, by its name. */
  readonly agent: string;
}

/** The rolling update, node by node; done by the profile's READY rule and every pod on the new image (§4.4/3, §4.5/3). */
export const waitStage = pathStage<WaitFacts>({
  id: 'wait',
  title: 'Wait for the rolling update',
  ref: '§4.4/3',
  paths: ['manifest', 'kvstore'],
  also: [operatorEnd(operatorImageOf)],
  readOnly: true,
  probes: true,
  traffic: 'agents',
  settles: SETTLED_BY_ROLLOUT,
  checks: [othersRunning],
  survey: readWaitFacts,
  plan({ progress, nodes, agent }, context) {
    const { goal, options, chain } = context;
    const agents = progress.find(({ target }) => target.kind === 'DaemonSet' && target.name === agent);
    const end = agents ? probeAtEnd(agentsOfTarget(agents.target), options) : [];
    if (progress.every((one) => one.done)) {
      return end.length > 0 ? { actions: end } : { skip: `every pod is on ${goal.release} and ready` };
    }
    const targets = progress.map(({ target }) => target);
    const rollout = rolloutWait('rollout', '§4.4/3', targets, context, nodes);
    // Of a run that is still to apply the manifest, `apply` waits for the agents and probes between.
    const isAhead = chain?.pending.includes('apply') === true;
    const first = agents && !agents.done && !isAhead ? probeFirst(agents.target, rollout, context) : [];
    return { actions: [...first, rollout, ...end] };
  },
});

/** With --probe-network: between the first upgraded agent and the others. */
export function probeFirst(agent: RolloutTarget, { effect }: ReturnType<typeof rolloutWait>, { options }: Context): readonly Action[] {
  const first = { ...effect.until, targets: [agent], untilFirst: true } as const;
  return probeBetween(agentsOfTarget(agent), first, options, effect.timeoutMs);
}

async function readWaitFacts(sources: Sources, context: Context, installation: Installation): Promise<WaitFacts> {
  const target = await readTarget(sources, context, installation);
  const variant = variantOf(context, installation);
  // Nodes tell why a pod lags, and not whether: how many there are is known already.
  const rollouts = await readRollouts(sources, targetsOf(context, target, variant.id), []);
  const progress = rollouts.map(({ target: one, done }) => ({ target: one, done }));
  const nodes = installation.nodes ?? (await readNodes(sources)).length;
  const otherPods = await attempt(() => readOtherPods(sources, context));
  return { progress, nodes, agent: variant.agent.name, otherPods };
}

/** For who waits alone: in a run `verify` reports them, at its end. */
async function readOtherPods({ cluster, records }: Sources, context: Context) {
  if (context.chain?.later.includes('verify')) return [];
  const pods = await cluster.list(K.Pod, { namespace: WATCHED_NAMESPACE, keep: unattributed });
  return otherPodsOf(pods, await records.load(), context);
}

/** What is left of the upgrade before every pod of the API server is new, on any install path. */
export async function upgradeWaits(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  const [rollout, operator] = await Promise.all([
    apiServerRollout(sources, context, installation),
    operatorsWork(sources, context, installation),
  ]);
  return [...rollout, ...operator];
}

async function apiServerRollout(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  if (!installation.hasApiServer || !hasFullManifest(installation)) return [];
  const target = await readTarget(sources, context, installation);
  const addOn = addOnsOf(context, installation).find(({ id }) => id === 'apiserver');
  const documents = target.addOns.filter(({ id }) => id === 'apiserver').flatMap(({ manifest }) => objectsIn(manifest));
  const found = addOn && rolloutTarget(addOn.workload, { documents });
  const own = found ? [found] : [];
  const progress = await readRollouts(sources, own, await readNodes(sources));
  const open = progress.filter(({ done }) => !done).map(({ target: one }) => one);
  if (open.length === 0) return [];
  const until = { type: 'rollout', targets: open, maxFailed: context.options.maxFailed } as const;
  return [{ until, title: `wait for ${open.map(refText).join(', ')}` }];
}

function operatorImageOf(sources: Sources, context: Context, installation: Installation): Promise<string> {
  return (installation.path === 'chart' ? chartOperatorImage : operatorImage)(sources, context, installation);
}

/** Where an operator moves the API server: whether all its pods are new is part of the rule for the end of the whole upgrade (§4.3/2). */
async function operatorsWork(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  if (!installation.hasApiServer || !isOperated(installation)) return [];
  const until = await readExpectation(sources, context, installation, operatorImageOf);
  const title = `wait until the operator has upgraded every component to ${until.target.release}`;
  return (await stillBringing(sources, until)) ? [{ until, title }] : [];
}

const IN_MANIFEST = 'the full manifest holds the CRDs: apply installs them first';

/** Said when the CRDs exist: a user who asked for this stage alone must not stop here. A chain continues by itself. */
const AT_ONCE: Action = {
  id: 'at-once',
  title: 'run apply at once',
  ref: '§4.3/2',
  undo: 'full',
  effect: {
    type: 'ask',
    instruction:
      'run apply at once (run does it by itself). The old operator does not know the new CRDs: if it restarts before the new one is there, it hangs, and its statuses stay green',
  },
};

/** What `apply` always refuses is refused before the CRDs, as an old operator must not meet new ones (NS-244). */
function refuseMisplaced({ chart, operator }: Installation, { options }: Context): void {
  if (!chart || !operator || chart.namespace === operator.namespace || options.moveRelease) return;
  throw new Fault(
    'blocked',
    `release ${chart.namespace}/${chart.name} is not in the namespace of its operator, ${operator.namespace}: it cannot be upgraded there`,
    ['have it moved with --move-release', look(text`see: ${command`kubectl netsvc-upgrade explain NS-244`}`)],
  );
}

interface CrdsStageFacts extends CrdsJudged {
  /** Undefined where the chart's new operator applies them itself. */
  readonly facts: CrdFacts | undefined;
}

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = pathStage<CrdsStageFacts>({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  paths: ['chart', 'operator'],
  needless: { manifest: IN_MANIFEST, kvstore: IN_MANIFEST },
  readOnly: false,
  traffic: 'untouched',
  undoneBy: 'files',
  reaches: 'crds',
  noReturns: [NO_RETURNS.crds],
  converges: true,
  checks: crdsChecks,
  async survey(sources, context, installation) {
    const { goal, options } = context;
    const isChart = installation.path === 'chart';
    const facts = isChart && options.manageCrds ? undefined : await readCrdFacts(sources, context, installation.path);
    const writes = facts !== undefined && changes(facts);
    const [record, upgraded, atZero, health] = await Promise.all([
      sources.records.load(),
      writes && isChart && isDeployed(sources.cluster, installation, goal.release),
      // How many pods the operator gets, the chart or the user's own file says: apply evaluates it.
      writes && !isChart && options.upgradeFile === undefined ? stoppedOperator(sources.cluster, installation) : [],
      writes ? readHealth(sources, context, installation) : undefined,
    ]);
    return { installation, record, facts, previews: facts?.previews ?? [], writes, upgraded, atZero, health };
  },
  plan({ facts, writes, installation }, context) {
    if (!facts) return { skip: 'the new operator applies the CRDs itself (--manage-crds)' };
    const { crds, previews } = facts;
    if (!writes) return { skip: `the CRDs equal ${crds.url}` };
    const common = { objects: previews.map(({ planned }) => planned), remember: { digests: { [crds.file]: crds.sha256 } } };
    if (installation.path === 'chart') {
      refuseMisplaced(installation, context);
      return { actions: applyCrds(facts, '§4.2/1', context), ...common, notes: [AT_ONCE_CHART] };
    }
    return { actions: [...applyCrds(facts, '§4.3/2', context), ...(context.chain?.later.includes('apply') ? [] : [AT_ONCE])], ...common };
  },
});

const AT_ONCE_CHART = 'run apply at once: an old operator that restarts with the new CRDs does not come up';
