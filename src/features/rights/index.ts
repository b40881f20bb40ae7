/** The face of this feature: all that other rooms may use of it. */

export type { ChartScope, DocumentKind, PlanScope } from './needs.ts';
export type { Permission } from './permission.ts';
export { adminRights } from './permission.ts';
export { permissionsOf, permittedCommands } from './permissions.ts';
export { chartScope, manifestScope, operatorScope, roleLines, scopeOf, withoutWideSecrets } from './role-scopes.ts';
