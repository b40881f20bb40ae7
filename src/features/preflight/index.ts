/** The face of this feature: all that other rooms may use of it. */
export { kubectlChecks } from './kubectl-checks.ts';
export { preflightStage } from './stage.ts';
