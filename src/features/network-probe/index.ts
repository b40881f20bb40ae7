/** The face of this feature: all that other rooms may use of it. */
export { agentsOfTarget, probeAtEnd, probeBetween } from './actions.ts';
export { type AgentsOf, hasUpgradedNode } from './agents.ts';
export { networkProbeEffects } from './effects.ts';
