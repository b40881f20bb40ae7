/** The face of this feature: all that other rooms may use of it. */
export { canaryActions, judgeAction, rollAction, soakAction, stopAction } from './actions.ts';
export { canaryEffects } from './effects.ts';
export { type CanaryFacts, readCanary } from './facts.ts';
export {
  held,
  isHeld,
  isOfStrategy,
  type OwnStrategies,
  ownStrategyOf,
  readOwnStrategies,
  strategyChange,
  strategyText,
  withoutOwn,
} from './own-strategy.ts';
export { paced, refusingPace } from './pace.ts';
export { ProbeWatch } from './probe.ts';
