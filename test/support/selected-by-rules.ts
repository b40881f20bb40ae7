import type { HostEndpoint } from '../../src/features/policy-rules/host-endpoint.ts';
import { type Labels, matches, type Selector } from '../../src/features/policy-rules/selector.ts';
import { parseSelector } from '../../src/features/policy-rules/stored-selector.ts';
import type { KubeObject } from '../../src/kernel/object.ts';

/** A side of a rule, as the service documents it. */
interface Entity {
  readonly selector?: string;
  readonly notSelector?: string;
  readonly namespaceSelector?: string;
  readonly serviceAccounts?: { readonly names?: readonly string[]; readonly selector?: string };
  readonly ports?: readonly unknown[];
  readonly notPorts?: readonly unknown[];
}

type Rules = readonly Readonly<Partial<Record<'source' | 'destination', Entity>>>[];
type LabelsOf = (endpoint: HostEndpoint) => Labels;

/**
 * What each rule of a policy selects among these host endpoints, as one text: addresses, and addresses that have a named port. It goes field
 * by field through the rules and the whole fleet, and shares only single selectors with the program.
 */
export function selectedByRules(
  { metadata: { namespace }, spec }: KubeObject,
  way: 'ingress' | 'egress',
  endpoints: readonly HostEndpoint[],
  labelsOf: LabelsOf,
): string {
  const rules = ((spec ?? {}) as { readonly [W in typeof way]?: Rules })[way] ?? [];
  const sides = rules.flatMap(({ source = {}, destination = {} }) => [source, destination]);
  return JSON.stringify(sides.map((side) => membersOf(side, namespace, endpoints, labelsOf)));
}

function membersOf(entity: Entity, namespace: string | undefined, endpoints: readonly HostEndpoint[], labelsOf: LabelsOf) {
  const { selector, notSelector, namespaceSelector, serviceAccounts, ports = [], notPorts = [] } = entity;
  const names = [...ports, ...notPorts].filter((port) => typeof port === 'string');
  const isExcluded = (one: HostEndpoint) => notSelector !== undefined && matches(parseSelector(notSelector), labelsOf(one));
  const isAnybody = selector === undefined && namespaceSelector === undefined && serviceAccounts === undefined;
  // Only pods are in the namespace of a policy; one that names nobody at all is about everybody.
  const isOfPods = namespace !== undefined && namespaceSelector === undefined && !(isAnybody && notSelector === undefined);
  const isChosen = (one: HostEndpoint) => !isOfPods && !isExcluded(one) && isMeant(entity, labelsOf(one));
  const left = endpoints.filter(isAnybody && !isOfPods ? isExcluded : isChosen);
  return [
    addressesOf(left),
    ...names.map((name) => addressesOf(endpoints.filter(isChosen).filter((one) => one.ports.some((port) => port.name === name)))),
  ];
}

/** A host is in no namespace and has no service account; it may have labels of one by its profiles. */
function isMeant({ selector = '', namespaceSelector, serviceAccounts }: Entity, labels: Labels): boolean {
  const under = (prefix: string) =>
    Object.fromEntries(
      Object.entries(labels).flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [])),
    );
  if (!matches(parseSelector(selector), labels)) return false;
  if (namespaceSelector !== undefined && !matches(withoutNamespace(parseSelector(namespaceSelector)), under('pcns.'))) return false;
  if (serviceAccounts?.names !== undefined) return false;
  return serviceAccounts?.selector === undefined || matches(parseSelector(serviceAccounts.selector), under('pcsa.'));
}

/** In a selector of namespaces `all()` means every namespace, and `global()` what is in none. */
function withoutNamespace(selector: Selector): Selector {
  switch (selector.op) {
    case 'all':
      return { op: 'not', operand: { op: 'all' } };
    case 'not':
      return { op: 'not', operand: withoutNamespace(selector.operand) };
    case 'and':
    case 'or':
      return { ...selector, operands: selector.operands.map(withoutNamespace) };
    default:
      return selector;
  }
}

/** An address of version 6 is written in one way only. */
function addressesOf(endpoints: readonly HostEndpoint[]): readonly string[] {
  const all = endpoints.flatMap(({ expectedIPs }) =>
    expectedIPs.map((text) => (text.includes(':') ? new URL(`http://[${text}]`).hostname : text)),
  );
  return [...new Set(all)].toSorted();
}
