/** The face of this feature: all that other rooms may use of it. */

export { rollbackCheckStage } from './check-stage.ts';
export { goingBackEffects, goingBackExpectations } from './effects.ts';
export { rollbackLabelsStage } from './labels-stage.ts';
export { rollbackNamesStage } from './names-stage.ts';
export { rollbackStopStage } from './stop-stage.ts';
