/** The face of this feature: all that other rooms may use of it. */
export { backupStage } from './stage.ts';
