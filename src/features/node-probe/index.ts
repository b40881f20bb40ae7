/** The face of this feature: all that other rooms may use of it. */
export { nodeProbeEffects } from './effects.ts';
export { readPulled } from './image-probe.ts';
export { probeNodesStage } from './stage.ts';
