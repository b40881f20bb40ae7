/** The face of this feature: all that other rooms may use of it. */
export { type AgentsOf, agentsOfTarget, hasUpgradedNode, probeAtEnd, probeBetween } from './agents.ts';
export { networkProbeEffects } from './effects.ts';
