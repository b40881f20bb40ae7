/** The face of this feature: all that other rooms may use of it. */
export { probeImages } from './effect.ts';
export { probeText } from './image-probe.ts';
export { probeImagesStage } from './stage.ts';
export { readTargetImages } from './target-images.ts';
