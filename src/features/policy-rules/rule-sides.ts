import { firstOf } from '../../kernel/counted.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { labelPrefixes, prefixed } from './global-policy.ts';
import type { Direction, Rule } from './rules.ts';
import { type Selector, selectorText } from './selector.ts';
import { parseSelector, storedSelector } from './stored-selector.ts';

/** One thing by which a rule selects endpoints: a selector of its source or destination, or the name of a port. */
export type RuleSide = {
  /** Sides with the same key select the same endpoints. */
  readonly key: string;
  /** As the rule has it: `source role == 'app'`. */
  readonly shown: string;
} & ({ readonly selector: Selector } | { readonly port: string });

/** Of a policy or a profile, by direction, those of all its rules. */
export type RuleSides = Readonly<Record<Direction, readonly RuleSide[]>>;

/** What a rule selects otherwise: addresses, and endpoints with a port that it names. */
export interface SideChange {
  readonly policy: string;
  /** As the rule has it: `source role == 'app'`. */
  readonly shown: string;
  readonly comes: readonly string[];
  readonly goes: readonly string[];
}

interface Entity {
  readonly selector?: string;
  readonly notSelector?: string;
  readonly namespaceSelector?: string;
  readonly serviceAccounts?: { readonly names?: readonly string[] | null; readonly selector?: string } | null;
  readonly ports?: readonly unknown[] | null;
  readonly notPorts?: readonly unknown[] | null;
}

type Names = Pick<Profile, 'apiGroup' | 'derivedProfiles'>;

/** Reads selectors as the agents do (`RuleAPIV3ToBackend`). Throws Fault `failed` for an invalid one. */
export function ruleSidesOf(object: KubeObject, profile: Names): RuleSides {
  const spec = (object.spec ?? {}) as Partial<Record<Direction, readonly Rule[] | null>>;
  const of = (way: Direction) =>
    (spec[way] ?? []).flatMap((rule, index) =>
      (['source', 'destination'] as const).flatMap((side) => {
        const read = (field: string, text: string) => selectorText(storedSelector(object, `${way}[${index}].${side}.${field}`, text));
        return sidesOf((rule[side] ?? {}) as Entity, side, { profile, namespace: object.metadata.namespace, read });
      }),
    );
  return { ingress: of('ingress'), egress: of('egress') };
}

interface Around {
  readonly profile: Names;
  readonly namespace: string | undefined;
  /** The selector in its normal form. */
  readonly read: (field: string, text: string) => string;
}

/** A selector with `notSelector` is one set; `notSelector` alone is a set that the rule leaves out. */
function sidesOf(entity: Entity, side: string, around: Around): readonly RuleSide[] {
  const { notSelector = '', ports, notPorts } = entity;
  const only = positive(entity, around);
  const none = notSelector === '' ? '' : around.read('notSelector', notSelector);
  const key = only !== '' && none !== '' ? `(${only}) && (!(${none}))` : only || none;
  const names = [...(ports ?? []), ...(notPorts ?? [])].filter(isName);
  return [
    ...(key === '' ? [] : [{ key, selector: parseSelector(key), shown: `${side} ${shownOf(entity)}` }]),
    ...names.map((port) => ({ key: `port ${port}`, port, shown: `${side} port ${port}` })),
  ];
}

/** Numbers and ranges may be written as texts too. */
function isName(port: unknown): port is string {
  return typeof port === 'string' && !/^\d+(?::\d+)?$/.test(port);
}

/** One selector of all endpoints that the entity may be; empty where it may be anybody (`getEndpointSelector` of the service). */
function positive({ selector = '', notSelector = '', namespaceSelector = '', serviceAccounts }: Entity, around: Around): string {
  const { profile, namespace, read } = around;
  const inNamespace = `has(${profile.apiGroup}/namespace)`;
  const spaces =
    namespaceSelector === ''
      ? namespace === undefined
        ? ''
        : `${profile.apiGroup}/namespace == '${namespace}'`
      : withPrefix(read('namespaceSelector', namespaceSelector), labelPrefixes(profile).namespace)
          .replaceAll('all()', inNamespace)
          .replaceAll('global()', `!${inNamespace}`);
  const both = [accounts(serviceAccounts ?? {}, around), selector === '' ? '' : read('selector', selector)].filter((text) => text !== '');
  const own = both.length > 1 ? both.map((text) => `(${text})`).join(' && ') : (both[0] ?? '');
  if (spaces === '' || (own === '' && notSelector === '' && namespaceSelector === '')) return own;
  return own === '' ? spaces : `(${spaces}) && (${own})`;
}

function accounts({ names, selector = '' }: NonNullable<Entity['serviceAccounts']>, { profile, read }: Around): string {
  const selected = selector === '' ? '' : withPrefix(read('serviceAccounts.selector', selector), labelPrefixes(profile).serviceAccount);
  if ((names ?? []).length === 0) return selected;
  const named = `${profile.apiGroup}/serviceaccount in {${(names ?? []).map((name) => `'${name}'`).join(', ')}}`;
  return selected === '' ? named : `(${selected}) && (${named})`;
}

const withPrefix = (text: string, prefix: string): string => selectorText(prefixed(parseSelector(text), prefix));

function shownOf({ selector, notSelector, namespaceSelector, serviceAccounts }: Entity): string {
  const { names, selector: ofAccounts } = serviceAccounts ?? {};
  return [
    ...(selector ? [selector] : []),
    ...(namespaceSelector ? [`namespaceSelector ${namespaceSelector}`] : []),
    ...(ofAccounts ? [`serviceAccounts ${ofAccounts}`] : []),
    ...((names ?? []).length > 0 ? [`serviceAccounts ${(names ?? []).join(', ')}`] : []),
    ...(notSelector ? [`notSelector ${notSelector}`] : []),
  ].join(', ');
}

/** `db, source role == 'app': 192.0.2.10 goes; 10.0.0.1 and 10.0.0.2 come`; with a limit the first of them only. */
export function sideChangeText({ policy, shown, comes, goes }: SideChange, limit: number): string {
  const some = (names: readonly string[], one: string, many: string) =>
    names.length === 0 ? [] : [`${firstOf(names, limit)} ${names.length === 1 ? one : many}`];
  return `${policy}, ${shown}: ${[...some(goes, 'goes', 'go'), ...some(comes, 'comes', 'come')].join('; ')}`;
}
