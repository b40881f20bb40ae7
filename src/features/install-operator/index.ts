/** The face of this feature: all that other rooms may use of it. */
export { apiNamespaceChecks } from './api-namespace.ts';
export { operatorApply } from './apply.ts';
export { typhaOrderChecks, typhaOrderNote, typhaOrderTaken } from './checks.ts';
export { type CrdsJudged, crdsChecks } from './crds-checks.ts';
export { operatorExpectations } from './effects.ts';
export { type OperatorImageOf, operatorEnd, readExpectation, stillBringing } from './end.ts';
export { readMissingFlowLogs } from './flow-logs.ts';
export { readPinnedImages } from './image-set.ts';
export { type OperatedImages, readOperatedImages } from './operated-images.ts';
export { operatorLags } from './operator-points.ts';
export type { OperatorLag } from './operator-view.ts';
export { readOperatorView } from './read-operator.ts';
export { readRestarts, restartNotes } from './restarts.ts';
export { operatorImage } from './target.ts';
