/** The face of this feature: all that other rooms may use of it. */

export { rollbackCheckStage } from './check-stage.ts';
export { noNewTables, type TablesJudged } from './checks.ts';
export { goingBackEffects, goingBackExpectations } from './effects.ts';
export { readMissed, rollbackLabelsStage } from './labels-stage.ts';
export { rollbackNamesStage } from './names-stage.ts';
export type { NameProblem } from './policy-names.ts';
export { rollbackStopStage } from './stop-stage.ts';
export { meetsNewTables, readTables, tablesNotes } from './tables.ts';
