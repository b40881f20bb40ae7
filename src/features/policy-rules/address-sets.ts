import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { labelPrefixes, prefixed } from './global-policy.ts';
import type { Direction, Rule } from './rules.ts';
import { type Selector, selectorText } from './selector.ts';
import { parseSelector, storedSelector } from './stored-selector.ts';

/** Endpoints that a rule selects: the agents keep their addresses in a set. Host endpoints are in it with their `expectedIPs`. */
export interface AddressSet {
  /** Two sets with the same key have the same members. */
  readonly key: string;
  readonly selector: Selector;
  /** With a port, members are only those that have a port of this name; the protocol where the rule has one. */
  readonly port?: { readonly name: string; readonly protocol?: string };
  /** As the rule has it: `source role == 'app'`. */
  readonly shown: string;
}

/** Of a policy or a profile, for each direction the sets of all its rules. */
export type AddressSets = Readonly<Record<Direction, readonly AddressSet[]>>;

interface Entity {
  readonly selector?: string;
  readonly notSelector?: string;
  readonly namespaceSelector?: string;
  readonly serviceAccounts?: { readonly names?: readonly string[] | null; readonly selector?: string } | null;
  readonly ports?: readonly unknown[] | null;
  readonly notPorts?: readonly unknown[] | null;
}

type Names = Pick<Profile, 'apiGroup' | 'derivedProfiles'>;

/** Reads rules as the agents do (`RuleAPIV3ToBackend`, `ruleToParsedRule`). Throws Fault `failed` for an invalid selector. */
export function addressSetsOf(object: KubeObject, profile: Names): AddressSets {
  const spec = (object.spec ?? {}) as Partial<Record<Direction, readonly Rule[] | null>>;
  const of = (way: Direction) =>
    (spec[way] ?? []).flatMap((rule, index) => {
      // A rule that only logs decides nothing.
      if (rule.action?.toLowerCase() === 'log') return [];
      return (['source', 'destination'] as const).flatMap((side) => {
        const entity = (rule[side] ?? {}) as Entity;
        const read = (field: string, text: string) => selectorText(storedSelector(object, `${way}[${index}].${side}.${field}`, text));
        return entitySets(entity, rule.protocol, side, { profile, namespace: object.metadata.namespace, read });
      });
    });
  return { ingress: of('ingress'), egress: of('egress') };
}

interface Around {
  readonly profile: Names;
  readonly namespace: string | undefined;
  /** The selector in its normal form. */
  readonly read: (field: string, text: string) => string;
}

function entitySets(entity: Entity, protocol: unknown, side: string, around: Around): readonly AddressSet[] {
  const { notSelector = '', ports, notPorts } = entity;
  const only = positive(entity, around);
  const none = notSelector === '' ? '' : around.read('notSelector', notSelector);
  // Both together are one set; `notSelector` alone is a set of its own, whose members the rule leaves out.
  const whole = only !== '' && none !== '' ? `(${only}) && (!(${none}))` : only;
  const shown = `${side} ${shownOf(entity)}`;
  const sets: AddressSet[] = [];
  const [byName, notByName] = [ports, notPorts].map((some) => (some ?? []).filter(isName));
  const isNarrowed = (byName ?? []).length > 0 && byName?.length === ports?.length;
  // If only names of ports are wanted, the selector has narrowed their sets already; excluded names narrow nothing.
  if (whole !== '' && !isNarrowed) sets.push(setOf(whole, shown));
  for (const name of [...(byName ?? []), ...(notByName ?? [])]) {
    const port = { name, ...protocolOf(protocol) };
    sets.push({ ...setOf(whole || 'all()', `${side} port ${name}`), key: `${whole}\n${port.protocol ?? ''}:${name}`, port });
  }
  if (only === '' && none !== '') sets.push(setOf(none, shown));
  return sets;
}

function setOf(text: string, shown: string): AddressSet {
  return { key: text, selector: parseSelector(text), shown };
}

const NUMBERED: Readonly<Record<string, string>> = { 6: 'tcp', 17: 'udp', 132: 'sctp' };

function protocolOf(protocol: unknown): Pick<NonNullable<AddressSet['port']>, 'protocol'> {
  if (protocol === undefined || protocol === null) return {};
  const text = String(protocol).toLowerCase();
  return { protocol: NUMBERED[text] ?? text };
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
