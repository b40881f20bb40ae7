/** The face of this feature: all that other rooms may use of it. */
export { reviewed } from './access.ts';
export { type AccessFacts, rightsCheck } from './access-checks.ts';
export { kubectlChecks } from './machine-checks.ts';
export { serverChecksBack } from './server-checks.ts';
export { preflightStage } from './stage.ts';
