/** The face of this feature: all that other rooms may use of it. */
export { applyStage } from './apply-stage.ts';
export { crdsStage, upgradeWaits, waitStage } from './around.ts';
export { onPaths, pathOf } from './paths.ts';
