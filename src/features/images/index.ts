/** The face of this feature: all that other rooms may use of it. */
export { probeImages } from './effect.ts';
export { probeImagesStage } from './stage.ts';
