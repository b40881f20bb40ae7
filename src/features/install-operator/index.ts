/** The face of this feature: all that other rooms may use of it. */

export { NEW_OPERATOR, operatorApply, operatorImage, readRestarts, restartNotes } from './apply.ts';
export { apiNamespaceChecks, type CrdsJudged, crdsChecks, typhaOrderChecks, typhaOrderNote, typhaOrderTaken } from './checks.ts';
export { operatorExpectations } from './effects.ts';
export { operatorEnd, readEndLags, readExpectation, stillBringing } from './end.ts';
export { readConsoleNotes, readMissingFlowLogs } from './flow-logs.ts';
export { type OperatedImages, readOperatedImages, readPinnedImages } from './operated-images.ts';
export type { OperatorLag } from './operator-causes.ts';
