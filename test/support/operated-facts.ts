import type { OperatedFacts } from '../../src/features/survey/facts.ts';
import { calico } from '../../src/profiles/calico.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { contextOf, found, object } from '../fixtures/facts.ts';

/** What the checks of an operator's installation are given. */
export const API = 'operator.tigera.io/v1';
const detection = found({ path: 'operator', variant: undefined, hasApiServer: true });
export const context = contextOf({}, calico);
type Values = { readonly [Field in keyof OperatedFacts]?: Extract<OperatedFacts[Field], { value: unknown }>['value'] };
const readings = (values: Values) => Object.fromEntries(Object.entries(values).map(([field, value]) => [field, { value }]));
const status = (name: string) => object(API, `TigeraStatus/${name}`, { status: { conditions: [{ type: 'Available', status: 'True' }] } });
const nothing = {
  imageSets: [],
  gateways: [],
  gatewayPolicy: undefined,
  gatewayDefinitions: [],
  components: [object(API, 'APIServer/default')],
  statuses: [status('calico')],
};
export const operated = (change: Values = {}) => ({
  detection,
  operated: readings({
    ...nothing,
    installation: installed({}),
    dataPlane: change.installation ?? installed({}),
    ...change,
  }) as unknown as OperatedFacts,
});
const forbidden = { unread: 'forbidden' };
/** Everything was read but for these. */
export const without = (...fields: readonly (keyof OperatedFacts)[]) => ({
  detection,
  operated: { ...operated().operated, ...Object.fromEntries(fields.map((field) => [field, forbidden])) },
});
export const installed = (spec: object) => object(API, 'Installation/default', { spec });
export const forOperators = {
  'does not apply to a manifest install': { context, is: 'not-applicable' },
  'does not apply where the profile knows no names': { context: contextOf({}, netsvc), facts: operated(), is: 'not-applicable' },
} as const;
/** A check fails by what it looks at, and by nothing else. */
export const byItsOwn = (severity: 'error' | 'warning', ...fields: readonly (keyof OperatedFacts)[]) => {
  const others = (Object.keys(operated().operated) as (keyof OperatedFacts)[]).filter((field) => !fields.includes(field));
  return {
    'fails where it cannot be read': { context, facts: without(...fields), is: severity, says: /forbidden/ },
    'is judged where the rest cannot be read': { context, facts: without(...others), is: 'ok' },
  } as const;
};
