/** The face of this feature: all that other rooms may use of it. */
export type { GitContent, GitFile } from './content.ts';
