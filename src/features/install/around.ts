import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { RolloutProgress, RolloutTarget } from '../../kernel/rollout.ts';
import type { StagePlan } from '../../kernel/stage.ts';
import { chartCrds, chartOperatorImage, chartWait } from '../install-chart/index.ts';
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
  type OperatorImageOf,
  operatorEnd,
  operatorImage,
  readExpectation,
  stillBringing,
} from '../install-operator/index.ts';
import { agentsOfTarget, probeAtEnd, probeBetween } from '../network-probe/index.ts';
import type { Awaited } from '../ownerrefs/index.ts';
import { defaultWaitMs, readNodes, readRollouts, rolloutTargets, SETTLED_BY_ROLLOUT } from '../rollout/index.ts';
import { type PathPart, pathStage } from '../survey/index.ts';

interface WaitFacts {
  readonly targets: readonly RolloutTarget[];
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
  also: [chartWait, operatorEnd(['operator'], operatorImage)].map(probing),
  readOnly: true,
  leavesTraffic: true,
  settles: SETTLED_BY_ROLLOUT,
  checks: [],
  survey: readWaitFacts,
  plan({ targets, progress, nodes, agent }, { options, chain }) {
    const agents = progress.find(({ target }) => target.kind === 'DaemonSet' && target.name === agent);
    const end = agents ? probeAtEnd(agentsOfTarget(agents.target), options) : [];
    if (progress.every((one) => one.done)) {
      return end.length > 0 ? { actions: end } : { skip: `every pod is on ${options.release} and ready` };
    }
    const timeoutMs = options.timeoutMs ?? defaultWaitMs(nodes);
    const names = targets.map((target) => `${target.kind}/${target.name}`).join(', ');
    const until = { type: 'rollout', targets, maxFailed: options.maxFailed } as const;
    // Of a run that is still to apply the manifest, `apply` waits for the agents and probes between.
    const isAhead = chain?.pending.includes('apply') === true;
    const first =
      agents && !agents.done && !isAhead
        ? { agents: agentsOfTarget(agents.target), until: { ...until, targets: [agents.target], untilFirst: true } as const }
        : undefined;
    return {
      actions: [
        ...(first ? probeBetween(first.agents, first.until, options, timeoutMs) : []),
        { id: 'rollout', title: `wait for ${names}`, ref: '§4.4/3', undo: 'full', effect: { type: 'wait', until, timeoutMs } },
        ...end,
      ],
    };
  },
});

async function readWaitFacts(sources: Sources, context: Context, installation: Installation): Promise<WaitFacts> {
  const target = await readTarget(sources, context, installation);
  const variant = variantOf(context, installation);
  const targets = targetsOf(context, target, variant.id);
  // Nodes tell why a pod lags, and not whether: how many there are is known already.
  const progress = (await readRollouts(sources, targets, [])).map(({ target: one, done }) => ({ target: one, done }));
  const nodes = installation.nodes ?? (await readNodes(sources)).length;
  return { targets, progress, nodes, agent: variant.agent.name };
}

/** Where an operator replaces the agents: probed around its own wait. */
function probing(part: PathPart): PathPart {
  return {
    ...part,
    async open(sources, context, installation) {
      const inner = await part.open(sources, context, installation);
      return context.options.probeNetwork ? { ...inner, plan: () => withProbes(inner.plan(), context) } : inner;
    },
  };
}

function withProbes(plan: StagePlan, { options, profile: { operator } }: Context): StagePlan {
  if ('skip' in plan) return plan;
  const actions = plan.actions.flatMap((action) => {
    const { effect } = action;
    if (effect.type !== 'wait' || effect.until.type !== 'operator-end') return [action];
    const { release, digests } = effect.until.target;
    const agents = { ...operator.agent, namespace: operator.workloadNamespace, runs: { release, digests } };
    const first = { ...effect.until, firstOf: agents };
    return [...probeBetween(agents, first, options, effect.timeoutMs), action, ...probeAtEnd(agents, options)];
  });
  return { ...plan, actions };
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
  if (!installation.hasApiServer || !['manifest', 'kvstore'].includes(installation.path)) return [];
  const target = await readTarget(sources, context, installation);
  const addOns = target.addOns.flatMap(({ id, manifest }) => {
    const addOn = id === 'apiserver' ? addOnsOf(context, installation).find((one) => one.id === id) : undefined;
    return addOn ? [{ addOn, documents: manifest.documents.map(({ object }) => object) }] : [];
  });
  const own = rolloutTargets(variantOf(context, installation), { documents: [] }, addOns);
  const progress = await readRollouts(sources, own, await readNodes(sources));
  const open = progress.filter(({ done }) => !done).map(({ target: one }) => one);
  if (open.length === 0) return [];
  const until = { type: 'rollout', targets: open, maxFailed: context.options.maxFailed } as const;
  return [{ until, title: `wait for ${open.map(refText).join(', ')}` }];
}

const IMAGES: Readonly<Partial<Record<Installation['path'], OperatorImageOf>>> = { operator: operatorImage, chart: chartOperatorImage };

/** Where an operator moves the API server: whether all its pods are new is part of the rule for the end of the whole upgrade (§4.3/2). */
async function operatorsWork(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  const imageOf = IMAGES[installation.path];
  // With --undo nothing is waited for.
  if (!installation.hasApiServer || imageOf === undefined || context.options.undo) return [];
  const until = await readExpectation(sources, context, installation, imageOf);
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

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = pathStage<CrdFacts & CrdsJudged>({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  paths: ['operator'],
  also: [chartCrds],
  needless: { manifest: IN_MANIFEST, kvstore: IN_MANIFEST },
  readOnly: false,
  leavesTraffic: true,
  undoneBy: 'backup',
  converges: true,
  checks: crdsChecks,
  async survey(sources, context, installation) {
    const [facts, record] = await Promise.all([readCrdFacts(sources, context), sources.records.load()]);
    const writes = changes(facts);
    // The user's own file says how many there will be; apply evaluates it.
    const judged = writes && context.options.upgradeFile === undefined;
    return { ...facts, installation, record, writes, atZero: judged ? await stoppedOperator(sources.cluster, installation) : [] };
  },
  plan(facts, context) {
    const { crds, previews } = facts;
    if (!facts.writes) return { skip: `the CRDs equal ${crds.url}` };
    return {
      actions: [...applyCrds(facts, '§4.3/2', context), ...(context.chain?.later.includes('apply') ? [] : [AT_ONCE])],
      objects: previews.map(({ planned }) => planned),
      remember: { digests: { [crds.file]: crds.sha256 } },
    };
  },
});
