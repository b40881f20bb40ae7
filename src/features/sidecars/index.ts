/** The face of this feature: all that other rooms may use of it. */

export { mayBeMeshed, meshChecks } from './mesh.ts';
export { readSidecarImages } from './restarted.ts';
export { alpStage } from './stage.ts';
export { templateFiles } from './templates.ts';
export { sidecarPreconditions } from './workloads.ts';
