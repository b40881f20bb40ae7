/** The face of this feature: all that other rooms may use of it. */

export { rolloutExpectations } from './effects.ts';
export { IMPACT } from './failed-pods.ts';
export { itemsIn, meaningOf, shortText } from './meanings.ts';
export { heldBy, keptOff } from './pod-events.ts';
export { type Lagging, latePods, reasonsOf } from './pod-reasons.ts';
export { type AtZero, noneAtZero, type ReplicasJudged, rolloutHealthChecks, SETTLED_BY_ROLLOUT } from './rollout-health.ts';
export { defaultWaitMs, neededTarget, readNodes, readRollouts, rolloutTarget, rolloutTargets } from './targets.ts';
export {
  agentSetting,
  allContainersOf,
  duplicateEnv,
  envOf,
  findWorkload,
  mayBeMissing,
  type ServiceWorkloads,
  serviceWorkloads,
  shapeOf,
} from './workload-checks.ts';
