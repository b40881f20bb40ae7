/** The face of this feature: all that other rooms may use of it. */

export { agentSetting, agentSettings, ebpfNodes } from './agent-settings.ts';
export { FIX, HELD, HELD_ON, type HeldFor, heldIn, ofCanary, onItsNode } from './canary-view.ts';
export { type DriverView, type OldPod, type PodDriver, rolloutExpectations, waitRollout } from './effects.ts';
export { IMPACT, keptOff, withoutNetwork } from './failed-pods.ts';
export { Lasted } from './lasted.ts';
export { pagesOf } from './list-pages.ts';
export { lastWarning, meaningOf, shortText } from './meanings.ts';
export { type OtherPodsJudged, otherPodsOf, othersRunning, WATCHED_NAMESPACE } from './other-pods.ts';
export { heldBy, refusedFault } from './pod-events.ts';
export { type Lagging, latePods, reasonsOf } from './pod-reasons.ts';
export { nodesOf, type RefusedPod, refusedPods } from './refused-pods.ts';
export { type AtZero, noneAtZero, type ReplicasJudged, rolloutHealthChecks, SETTLED_BY_ROLLOUT } from './rollout-health.ts';
export {
  duplicateEnv,
  envOf,
  findWorkload,
  mayBeMissing,
  neededTarget,
  readNodes,
  readRollouts,
  rolloutTarget,
  rolloutTargets,
  type ServiceWorkloads,
  serviceWorkloads,
  withWorkloads,
} from './targets.ts';
export { rolloutUntil, rolloutWait, waitLimit } from './waits.ts';
