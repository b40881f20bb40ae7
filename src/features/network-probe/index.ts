/** The face of this feature: all that other rooms may use of it. */
export {
  type AgentsOf,
  agentsOfTarget,
  hasUpgradedNode,
  keepConnections,
  probeAtEnd,
  probeBetween,
  seeConnections,
  takesPods,
  tryConnections,
} from './agents.ts';
export { boundJob, deniedText, doubledText, podsOf, RESTRICTED } from './bound-job.ts';
export { CONNECTIONS, ConnectionWatch } from './connection-watch.ts';
export { networkProbeEffects } from './effects.ts';
export { keptEffects } from './kept-effects.ts';
export { sweep } from './sweep.ts';
