/** The face of this feature: all that other rooms may use of it. */
export { type GlobalPolicy, globalPolicyOf, inOrder, labelsGiven, tierOf } from './global-policy.ts';
export {
  type AutomaticSettings,
  type AutomaticSigns,
  automaticName,
  automaticSettings,
  type ExpectedCoverage,
  type FailsafePorts,
  failsafePorts,
  givenVariable,
  type HostEndpoint,
  hostEndpointOf,
  isAllInterfaces,
  isLabelledOwn,
  isTakenForOwn,
  originOf,
  type Uncovered,
  whyOther,
  whyUncovered,
} from './host-endpoint.ts';
export {
  type AfterRemoval,
  afterRemoval,
  endpointsWithoutNode,
  type FleetFacts,
  fleetVerdicts,
  type Moment,
  type NodeFacts,
  type NodeVerdict,
} from './host-endpoint-verdicts.ts';
export { isCopied, isLabelKey, isLabelValue, type LabelProblem } from './label-copies.ts';
export type { PolicyWorld } from './posture.ts';
export type { ChangedPolicy } from './rule-changes.ts';
export { type RuleSides, ruleSidesOf, sideChangeText } from './rule-sides.ts';
export type { EndpointProfile } from './rules.ts';
export { type Labels, predicateOf } from './selector.ts';
export { StoredFault, storedSelector } from './stored-selector.ts';
export { type ChangeVerdict, type LaneVerdict, laneText } from './verdict.ts';
export { dropsAllOf, hostsWithout } from './without-policy.ts';
