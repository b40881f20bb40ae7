import type { Check } from '../kernel/check.ts';
import type { Context } from '../kernel/context.ts';
import type { FeatureEffects } from '../kernel/effect-type.ts';
import type { IntentKind } from '../kernel/intent.ts';
import { judgeAll } from '../kernel/judge.ts';
import type { Sources } from '../kernel/ports.ts';
import type { AnyStage, OpenStage, StagePlan } from '../kernel/stage.ts';
import { backupEffects, backupStage } from './backup/index.ts';
import { canaryEffects, canaryExpectations } from './canary/index.ts';
import {
  goingBackEffects,
  goingBackExpectations,
  rollbackCheckStage,
  rollbackLabelsStage,
  rollbackNamesStage,
  rollbackStopStage,
} from './going-back/index.ts';
import { hepStage, hostExpectations, hostPreconditions } from './hosts/index.ts';
import { applyStage, crdsStage, upgradeWaits, waitStage } from './install/index.ts';
import { manifestExpectations, manifestPreconditions } from './install-manifest/index.ts';
import { holdEffects, holdPreconditions, operatorExpectations, paceEffects } from './install-operator/index.ts';
import { keptEffects, networkProbeEffects } from './network-probe/index.ts';
import { nodeProbeEffects, probeNodesStage } from './node-probe/index.ts';
import { forgetStage, ownerEffects, ownerGuards, ownerrefsStripStage, restoreStage, scanOwned } from './ownerrefs/index.ts';
import { policyEffects, policyExpectations, policyPreconditions, policyStage as policyStageWith } from './policies/index.ts';
import { kubectlChecks, preflightStage as preflightStageFor } from './preflight/index.ts';
import { type Needs, needs, writing } from './rights/index.ts';
import { askingFirst } from './rollback-first.ts';
import { addedObjects, newerObjects } from './rollback-needs.ts';
import { rolloutExpectations } from './rollout/index.ts';
import { cliEffects, cliGuards, cliStage } from './service-cli/index.ts';
import { alpStage, sidecarPreconditions } from './sidecars/index.ts';
import { attempt, readClient, readInstalled, rememberOf } from './survey/index.ts';
import { verifyStage } from './verify/index.ts';

/** These two wait for the upgrade's end, whatever the install path. */
export const ownerrefsRestoreStage = restoreStage(upgradeWaits);
export const ownerrefsForgetStage = forgetStage(upgradeWaits);

/** What the temporary policy owns is found by the search of the feature above. */
export const policyStage = policyStageWith(scanOwned);

/** What is left of the account to ask is known once all stages are. */
export const preflightStage = preflightStageFor(() => runNeeds);

/** The chain in order: sub-commands, `run`, the help and the documentation all come from this one list. */
export const chain: readonly AnyStage[] = [
  preflightStage,
  probeNodesStage,
  backupStage,
  ownerrefsStripStage,
  crdsStage,
  applyStage,
  waitStage,
  ownerrefsRestoreStage,
  cliStage,
  alpStage,
  hepStage,
  policyStage,
  verifyStage,
  ownerrefsForgetStage,
].map(judgingKubectl);

/** A rollback, in order: the same stages go to the older release. */
const rollbackChain: readonly AnyStage[] = [
  askingFirst(rollbackCheckStage, () => rollbackNeeds),
  backupStage,
  ...(alpStage.undo ? [alpStage.undo] : []),
  ownerrefsStripStage,
  rollbackStopStage,
  rollbackLabelsStage,
  rollbackNamesStage,
  applyStage,
  waitStage,
  ownerrefsRestoreStage,
  cliStage,
  verifyStage,
  ownerrefsForgetStage,
].map(judgingKubectl);

/** The stages of a run by what it is for. */
export const chains: Readonly<Record<IntentKind, readonly AnyStage[]>> = { upgrade: chain, rollback: rollbackChain };

/** Each stage once, whatever it is performed for. */
export const allStages: readonly AnyStage[] = [...chain, ...rollbackChain.filter(({ id }) => chain.every((one) => one.id !== id))];

/** The same, and what takes each back. */
export const allWithUndo: readonly AnyStage[] = [...allStages, ...allStages.flatMap(({ undo }) => undo ?? [])];

/** The stages that a run performs unless asked for more. */
export const usualChain: readonly AnyStage[] = chain.filter(({ optional }) => !optional);

/** What a run asks of the account without `--include`. */
export const runNeeds: readonly Needs[] = [...writing(usualChain.flatMap((one) => one.needs)), needs.canary, needs.networkProbe];

/** What a rollback asks of the account. */
export const rollbackNeeds: readonly Needs[] = [
  ...writing(rollbackChain.flatMap((one) => one.needs)),
  ...[needs.canary, needs.networkProbe, addedObjects, newerObjects],
];

/** A stage that writes, with a check of its kubectl before patches and run record (it may run without a preflight, §1/5), and what the record notes. */
export function judgingKubectl(inner: AnyStage): AnyStage {
  if (inner.readOnly) return inner;
  return {
    ...inner,
    ...(inner.undo ? { undo: judgingKubectl(inner.undo) } : {}),
    async open(sources, context) {
      const open = await remembering(plannedOnce(await inner.open(sources, context)), sources, context);
      return startsKubectl(open) ? withKubectl(open, sources, context) : open;
    },
  };
}

/** What is installed, for the run record, of a stage that does not note it itself: the cluster soon shows something else. */
async function remembering(open: OpenStage, sources: Sources, context: Context): Promise<OpenStage> {
  const plan = planOf(open);
  if (plan === undefined || 'skip' in plan || plan.remember?.oldest !== undefined) return open;
  const installed = await readInstalled(sources, context).catch(() => undefined);
  if (installed === undefined) return open;
  const noted = { ...plan, remember: { ...rememberOf(installed), ...plan.remember } };
  return { ...open, plan: () => noted };
}

async function withKubectl(open: OpenStage, { tools, cluster }: Sources, context: Context): Promise<OpenStage> {
  const client = await attempt(() => readClient(tools));
  const isOpen = judgeAll(kubectlChecks, { client }, context).some(({ outcome }) => outcome === 'error' || outcome === 'warning');
  const facts = isOpen ? { client, server: await attempt(() => cluster.version()) } : { client };
  return { ...open, findings: () => [...judgeAll(kubectlChecks, facts, context), ...open.findings()] };
}

/** Plans are pure, and of a large fleet they take their time. */
function plannedOnce(open: OpenStage): OpenStage {
  let plan: StagePlan | undefined;
  return {
    ...open,
    plan() {
      plan ??= open.plan();
      return plan;
    },
  };
}

/** What stands against a plan is thrown again when its turn comes, after the findings. */
function planOf(open: OpenStage): StagePlan | undefined {
  try {
    return open.plan();
  } catch {
    return undefined;
  }
}

function startsKubectl(open: OpenStage): boolean {
  const plan = planOf(open);
  return (
    plan !== undefined && 'actions' in plan && plan.actions.some(({ effect }) => effect.type === 'exec' && effect.run.tool === 'kubectl')
  );
}

/** Every check once, in the order of the ids. */
export const allChecks: readonly Omit<Check<never>, 'judge'>[] = [
  ...new Map(allWithUndo.flatMap(({ checks }) => checks).map((check) => [check.id, check])).values(),
].sort((one, other) => (one.id < other.id ? -1 : 1));

/** The title of every check by its id, in the order of the ids. */
export const checkTitles: Readonly<Record<string, string>> = Object.fromEntries(allChecks.map(({ id, title }) => [id, title]));

/** What the features add to the register of effects; one that is missing is a type error. */
export const featureEffects: FeatureEffects = {
  effects: {
    ...backupEffects,
    ...canaryEffects,
    ...cliEffects,
    ...goingBackEffects,
    ...holdEffects,
    ...paceEffects,
    ...nodeProbeEffects,
    ...networkProbeEffects,
    ...keptEffects,
    ...ownerEffects,
    ...policyEffects,
  },
  expectations: {
    ...canaryExpectations,
    ...goingBackExpectations,
    ...hostExpectations,
    ...manifestExpectations,
    ...operatorExpectations,
    ...policyExpectations,
    ...rolloutExpectations,
  },
  preconditions: { ...holdPreconditions, ...hostPreconditions, ...manifestPreconditions, ...policyPreconditions, ...sidecarPreconditions },
  guards: { ...cliGuards, ...ownerGuards },
};
