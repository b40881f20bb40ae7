/** The face of this feature: all that other rooms may use of it. */
export { backupEffects } from './effects.ts';
export { backupStage } from './stage.ts';
