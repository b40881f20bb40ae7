/** The face of this feature: all that other rooms may use of it. */
export { imageEffects } from './effects.ts';
export { readPulled } from './image-probe.ts';
export { probeImagesStage } from './stage.ts';
