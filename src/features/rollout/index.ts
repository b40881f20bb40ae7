/** The face of this feature: all that other rooms may use of it. */
export { agentSetting } from './agent-setting.ts';
export { type AtZero, noneAtZero, type ReplicasJudged } from './at-zero-check.ts';
export { rolloutExpectations } from './effects.ts';
export { IMPACT } from './failed-pods.ts';
export { meaningOf } from './meanings.ts';
export { heldBy } from './pod-events.ts';
export { type Lagging, latePods, reasonsOf } from './pod-reasons.ts';
export { rolloutHealthChecks, SETTLED_BY_ROLLOUT } from './rollout-health.ts';
export { itemsIn, shortText } from './sandbox-events.ts';
export { readNodes, readRollouts } from './state.ts';
export { defaultWaitMs, neededTarget, rolloutTarget, rolloutTargets } from './targets.ts';
export {
  allContainersOf,
  duplicateEnv,
  envOf,
  findWorkload,
  mayBeMissing,
  type ServiceWorkloads,
  serviceWorkloads,
  shapeOf,
} from './workload-checks.ts';
