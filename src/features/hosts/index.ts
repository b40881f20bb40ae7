/** The face of this feature: all that other rooms may use of it. */
export { hostExpectations, hostPreconditions } from './effects.ts';
export { hostEndpointChecks } from './host-endpoints.ts';
export { hepStage } from './stage.ts';
