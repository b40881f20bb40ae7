/** The face of this feature: all that other rooms may use of it. */
export { deleteNamed } from './delete-old.ts';
export { controllersNotStopped, hostEndpointKinds, noFalseAutomatic, noFalseName } from './host-endpoints.ts';
export { hepStage } from './stage.ts';
export { assertSuccessor, assertWayBack } from './successor-stands.ts';
export { waitHostEndpoints } from './wait-host-endpoints.ts';
