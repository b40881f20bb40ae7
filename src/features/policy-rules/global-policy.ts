import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { policyName } from '../../kube/stored-metadata.ts';
import { assertRulesCount, BITS, type Direction, type Rule } from './rules.ts';
import { type Labels, operandText, type Predicate, predicateOf, type Selector } from './selector.ts';
import { storedSelector } from './stored-selector.ts';

export interface GlobalPolicy {
  /** As users know it: the v3 name, not the name it is stored under. */
  readonly name: string;
  readonly tier: string;
  /** Lower is earlier; Infinity where none is given. */
  readonly order: number;
  /** Selects endpoints by all their labels: those of namespaces and service accounts are folded in. */
  readonly selector: Selector;
  readonly selects: Predicate;
  /** Bits of the lanes of a host that it is about. */
  readonly lanes: number;
  /** Whether one of its rules may pass packets on to the next tier. */
  readonly passesOn: Readonly<Record<Direction, boolean>>;
  readonly directions: readonly Direction[];
  readonly rules: Readonly<Record<Direction, readonly Rule[]>>;
  readonly preDnat: boolean;
  readonly doNotTrack: boolean;
}

export interface Tier {
  readonly name: string;
  readonly order: number;
  /** What becomes of traffic that a tier's policies select and no rule of theirs decides. */
  readonly defaultAction: 'Deny' | 'Pass';
}

interface PolicySpec {
  readonly tier?: string;
  readonly order?: number;
  readonly selector?: string;
  readonly namespaceSelector?: string;
  readonly serviceAccountSelector?: string;
  readonly types?: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
  readonly preDNAT?: boolean;
  readonly doNotTrack?: boolean;
  readonly applyOnForward?: boolean;
}

/** Reads a GlobalNetworkPolicy. Throws Fault `failed` if one of its selectors is none, or if the agents ignore it for one of its rules. */
export function globalPolicyOf(
  object: KubeObject,
  profile: Pick<Profile, 'apiGroup' | 'policyRenaming' | 'derivedProfiles'>,
): GlobalPolicy {
  const spec = (object.spec ?? {}) as PolicySpec;
  const rules = { ingress: spec.ingress ?? [], egress: spec.egress ?? [] };
  assertRulesCount(object, rules);
  const selector = wholeSelector(object, spec, profile);
  const directions = directionsOf(spec.types);
  const passesOn = (way: Direction) => rules[way].some(({ action }) => action?.toLowerCase() === 'pass');
  return {
    name: policyName(object, profile),
    tier: spec.tier || 'default',
    order: spec.order ?? Number.POSITIVE_INFINITY,
    selector,
    selects: predicateOf(selector),
    lanes: lanesOf(spec, directions),
    passesOn: { ingress: passesOn('ingress'), egress: passesOn('egress') },
    directions,
    rules,
    preDnat: spec.preDNAT ?? false,
    doNotTrack: spec.doNotTrack ?? false,
  };
}

function lanesOf({ preDNAT, doNotTrack, applyOnForward }: PolicySpec, directions: readonly Direction[]): number {
  if (preDNAT || doNotTrack) return directions.includes('ingress') ? BITS[preDNAT ? 'pre-dnat' : 'untracked'] : 0;
  return directions.reduce((bits, way) => bits | BITS[way] | (applyOnForward ? BITS[`forward-${way}`] : 0), 0);
}

/**
 * The service joins three selectors as text; with a namespace or service account selector, `all()` becomes "has a namespace" or "has a
 * service account" and selects no hosts. Their labels get a prefix; `global()` is always true.
 */
function wholeSelector(
  object: KubeObject,
  { selector = '', namespaceSelector, serviceAccountSelector }: PolicySpec,
  profile: Pick<Profile, 'apiGroup' | 'derivedProfiles'>,
): Selector {
  const prefixes = labelPrefixes(profile);
  const around = [
    { field: 'namespaceSelector', text: namespaceSelector, prefix: prefixes.namespace, key: 'namespace' },
    { field: 'serviceAccountSelector', text: serviceAccountSelector, prefix: prefixes.serviceAccount, key: 'serviceaccount' },
  ];
  const whole = around.reduce((before, { field, text, prefix, key }) => {
    if (!text) return before;
    const own = operandText(prefixed(storedSelector(object, field, text), prefix));
    return (before === '' ? own : `(${before}) && ${own}`).replaceAll('all()', `has(${profile.apiGroup}/${key})`);
  }, selector);
  return storedSelector(object, 'selector', whole);
}

/** What stands before the labels that an endpoint has from its namespace, or from its service account. */
export function labelPrefixes({ derivedProfiles: derived }: Pick<Profile, 'derivedProfiles'>) {
  return {
    namespace: derived?.namespace.labelPrefix ?? 'namespaceSelector.',
    serviceAccount: derived?.serviceAccount.labelPrefix ?? 'serviceAccountSelector.',
  };
}

/** What endpoints get from their namespace or service account: each of its labels under a key that tells where it is from, and its name. */
export function labelsGiven(
  { name, labels = {} }: Pick<KubeObject['metadata'], 'name' | 'labels'>,
  prefix: string,
  apiGroup: string,
): Labels {
  const own = Object.entries(labels).map(([key, value]) => [`${prefix}${key}`, value]);
  return { ...Object.fromEntries(own), [`${prefix}${apiGroup}/name`]: name };
}

/** The selector with a prefix before the name of each label. */
export function prefixed(selector: Selector, prefix: string): Selector {
  switch (selector.op) {
    case 'all':
    case 'global':
      return selector;
    case 'not':
      return { op: 'not', operand: prefixed(selector.operand, prefix) };
    case 'and':
    case 'or':
      return { ...selector, operands: selector.operands.map((one) => prefixed(one, prefix)) };
    default:
      return { ...selector, label: `${prefix}${selector.label}` };
  }
}

/** The service's clients fill in `types`; a policy that was stored without them is about both ways, whatever rules it has. */
function directionsOf(types: readonly string[] | undefined): readonly Direction[] {
  const ways = ['ingress', 'egress'] as const;
  return types && types.length > 0 ? ways.filter((way) => types.some((type) => type.toLowerCase() === way)) : ways;
}

/** Of a tier that gives none, and of the tier `default`: others may come after it. */
const TIER_ORDER = 1_000_000;

export function tierOf(object: KubeObject): Tier {
  const spec = (object.spec ?? {}) as { readonly order?: number; readonly defaultAction?: string };
  return {
    name: object.metadata.name,
    order: spec.order ?? TIER_ORDER,
    defaultAction: spec.defaultAction === 'Pass' ? 'Pass' : 'Deny',
  };
}

/** Policies in the agents' order: tier (a missing one last), order, then `name/namespace/kind` as text: `app-2/` before `app/`. */
export function inOrder(policies: readonly GlobalPolicy[], tiers: readonly Tier[]): readonly GlobalPolicy[] {
  const byName = new Map(tiers.map((tier) => [tier.name, tier]));
  const tierOrder = (name: string) => byName.get(name)?.order ?? Number.POSITIVE_INFINITY;
  const absent = (name: string) => (byName.has(name) ? 0 : 1);
  return policies.toSorted(
    (a, b) =>
      compare(absent(a.tier), absent(b.tier)) ||
      compare(tierOrder(a.tier), tierOrder(b.tier)) ||
      compare(a.tier, b.tier) ||
      compare(a.order, b.order) ||
      compare(`${a.name}/`, `${b.name}/`),
  );
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
