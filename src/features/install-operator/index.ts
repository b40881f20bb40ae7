/** The face of this feature: all that other rooms may use of it. */

export { noReturnOf, noSwitchYet, readRestarts, restartNotes } from './apply.ts';
export { aroundOlder, BACK_REF, type BackFrame, backNotes, readBackFrame } from './back-frame.ts';
export {
  type AgentsJudged,
  apiNamespaceChecks,
  type CrdsJudged,
  crdsChecks,
  returnChecks,
  typhaOrderChecks,
  typhaOrderTaken,
} from './checks.ts';
export { readHealth, type StatusFacts, statusesGood, statusesGoodNow } from './component-statuses.ts';
export { crdsPlan, GIT_WITHOUT_CRDS, LEFT_TO_OPERATOR, withoutCrds } from './crds.ts';
export { operatorExpectations } from './effects.ts';
export { keepBeforeOperator, lagsWith, operatorEnd, operatorsWork } from './end.ts';
export { readConsoleNotes } from './flow-logs.ts';
export {
  afterAgents,
  type HeldWait,
  type HoldFacts,
  holdNote,
  holdWorkloads,
  onlyHeld,
  readHeldWait,
  readHold,
  releasesHeld,
  withoutHeld,
} from './hold.ts';
export { type AgentsHold, readAgentsHold, releaseAgents } from './hold-agents.ts';
export { keptNow } from './hold-checks.ts';
export { holdEffects, holdPreconditions } from './hold-effects.ts';
export { holdUndo } from './hold-undo.ts';
export { type ImageSource, imageSource, type OperatedImages } from './operated-images.ts';
export type { OperatorLag } from './operator-causes.ts';
export {
  atPace,
  isOwnPace,
  type PaceFacts,
  paceNotes,
  readPace,
  returnOwnPace,
  setPace,
  withoutOwnPace,
} from './pace.ts';
export { paceEffects } from './pace-effects.ts';
export { operatorPath, withOperated } from './path.ts';
export { readStillHeld } from './still-held.ts';
