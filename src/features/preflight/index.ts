/** The face of this feature: all that other rooms may use of it. */
export { kubectlChecks } from './machine-checks.ts';
export { preflightStage } from './stage.ts';
