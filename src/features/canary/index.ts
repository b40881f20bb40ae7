/** The face of this feature: all that other rooms may use of it. */
export {
  canaryActions,
  chosenIn,
  isOfCanary,
  judgeAction,
  lookAction,
  probedAction,
  replaceOthers,
  rollAction,
  secondSoakAction,
  soakAction,
  stopAction,
} from './actions.ts';
export { agentsText, goesBack, isOrAre, nodesText } from './choice.ts';
export { canaryEffects } from './effects.ts';
export { type AgentFacts, type CanaryFacts, readAgents, readCanary } from './facts.ts';
export { canaryExpectations } from './last-look.ts';
export { heldForUser, refuseHeld, refuseLeft, refuseOver } from './over.ts';
export {
  hasSurge,
  held,
  isHeld,
  isMarked,
  isOfStrategy,
  isOnDelete,
  isStillHeld,
  liveStrategyText,
  type OwnStrategies,
  ownStrategyOf,
  readOwnStrategies,
  strategyChange,
  strategyIn,
  strategyText,
  withoutOwn,
} from './own-strategy.ts';
export { drivenBy, flagsOfPace, isDriven, paced, refuseOnDelete, refusingPace } from './pace.ts';
export { ProbeWatch } from './probe.ts';
