/** The face of this feature: all that other rooms may use of it. */
export { verifyStage } from './stage.ts';
export { readResult, readTargetIfAny } from './survey.ts';
