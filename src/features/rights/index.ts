/** The face of this feature: all that other rooms may use of it. */

export type { ChartScope, DocumentKind, Needs, PlanScope } from './needs.ts';
export * as needs from './needs.ts';
export type { Permission } from './permission.ts';
export { adminRights, allow } from './permission.ts';
export { chartScope, manifestScope, operatorScope, roleLines, scopeOf, withoutWideSecrets } from './role-scopes.ts';
export { asked, reading, writing } from './roles.ts';
