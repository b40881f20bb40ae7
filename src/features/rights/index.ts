/** The face of this feature: all that other rooms may use of it. */
export { accessQuestion, accessText } from './access-text.ts';
export type { ChartScope, DocumentKind, PlanScope } from './needs.ts';
export type { Permission } from './permission.ts';
export { permissionsOf } from './permissions.ts';
