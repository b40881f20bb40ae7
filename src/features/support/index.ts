/** The face of this feature: all that other rooms may use of it. */
export { clusterParts } from './cluster-parts.ts';
export { partOf, reasonOf, type SupportPart } from './pods.ts';
