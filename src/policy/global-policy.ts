import type { KubeObject } from '../core/object.ts';
import type { Profile } from '../core/profile.ts';
import { policyName } from '../core/stored-metadata.ts';
import { type Predicate, predicateOf, type Selector } from './selector.ts';
import { storedSelector } from './stored-selector.ts';

/** What a policy does with traffic of a direction. */
export interface Rule {
  readonly action?: string;
  readonly [field: string]: unknown;
}

/** True if the rule decides on every packet that comes to it. */
export function isUnconditional({ action: _, metadata: __, ...conditions }: Rule): boolean {
  return Object.values(conditions).every((value) => isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

export type Direction = 'ingress' | 'egress';

export interface GlobalPolicy {
  /** As people know it: the v3 name, not the name it is stored under. */
  readonly name: string;
  readonly tier: string;
  /** Lower is earlier; Infinity where none is given. */
  readonly order: number;
  /** Selects endpoints; `selectors` of namespaces and service accounts are folded in. */
  readonly selector: Selector;
  /** Of namespaces, where there is one. */
  readonly namespaceSelector?: Selector;
  /** As host endpoints are selected: all three selectors in one. */
  readonly onHosts: Selector;
  readonly directions: readonly Direction[];
  readonly rules: Readonly<Record<Direction, readonly Rule[]>>;
  readonly preDnat: boolean;
  readonly doNotTrack: boolean;
  /** Also traffic that the host forwards. */
  readonly applyOnForward: boolean;
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

/** Reads a GlobalNetworkPolicy. Throws Fault `failed` if one of its selectors is none. */
export function globalPolicyOf(
  object: KubeObject,
  profile: Pick<Profile, 'apiGroup' | 'policyRenaming' | 'derivedProfiles'>,
): GlobalPolicy {
  const spec = (object.spec ?? {}) as PolicySpec;
  const rules = { ingress: spec.ingress ?? [], egress: spec.egress ?? [] };
  const read = (field: SelectorField) => storedSelector(object, field, spec[field] ?? '');
  return {
    name: policyName(object, profile),
    tier: spec.tier || 'default',
    order: spec.order ?? Number.POSITIVE_INFINITY,
    selector: read('selector'),
    ...(spec.namespaceSelector ? { namespaceSelector: read('namespaceSelector') } : {}),
    onHosts: onHosts(spec, read, profile.derivedProfiles),
    directions: directionsOf(spec.types, rules),
    rules,
    preDnat: spec.preDNAT ?? false,
    doNotTrack: spec.doNotTrack ?? false,
    applyOnForward: spec.applyOnForward ?? spec.preDNAT ?? spec.doNotTrack ?? false,
  };
}

type SelectorField = 'selector' | 'namespaceSelector' | 'serviceAccountSelector';

/**
 * Host endpoints are in no namespace and have no service account: in a selector of these `all()` means everything that is in one,
 * `global()` what is in none, and of labels they have only those that a derived profile gives them.
 */
function onHosts(spec: PolicySpec, read: (field: SelectorField) => Selector, derived: Profile['derivedProfiles']): Selector {
  const around = (
    [
      ['namespaceSelector', derived?.namespace.labelPrefix],
      ['serviceAccountSelector', derived?.serviceAccount.labelPrefix],
    ] as const
  ).flatMap(([field, prefix]) => (spec[field] ? [withoutAll(prefixed(read(field), prefix ?? `${field}:`))] : []));
  return around.length === 0 ? read('selector') : { op: 'and', operands: [read('selector'), ...around] };
}

function prefixed(selector: Selector, prefix: string): Selector {
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

function withoutAll(selector: Selector): Selector {
  if (selector.op === 'all') return { op: 'not', operand: { op: 'all' } };
  if (selector.op === 'not') return { op: 'not', operand: withoutAll(selector.operand) };
  if (selector.op === 'and' || selector.op === 'or') return { ...selector, operands: selector.operands.map(withoutAll) };
  return selector;
}

/** Without `types`: ingress, unless there are egress rules only; egress where there are egress rules. */
function directionsOf(types: readonly string[] | undefined, rules: Readonly<Record<Direction, readonly Rule[]>>): readonly Direction[] {
  if (types && types.length > 0) return (['ingress', 'egress'] as const).filter((way) => types.some((type) => type.toLowerCase() === way));
  if (rules.egress.length === 0) return ['ingress'];
  return rules.ingress.length === 0 ? ['egress'] : ['ingress', 'egress'];
}

export function tierOf(object: KubeObject): Tier {
  const spec = (object.spec ?? {}) as { readonly order?: number; readonly defaultAction?: string };
  return {
    name: object.metadata.name,
    order: spec.order ?? Number.POSITIVE_INFINITY,
    defaultAction: spec.defaultAction === 'Pass' ? 'Pass' : 'Deny',
  };
}

/** Policies in the order in which the agents evaluate them: by tier, by order within it, then by name. */
export function inOrder(policies: readonly GlobalPolicy[], tiers: readonly Tier[]): readonly GlobalPolicy[] {
  const byName = new Map(tiers.map((tier) => [tier.name, tier]));
  const tierOrder = (name: string) => byName.get(name)?.order ?? Number.POSITIVE_INFINITY;
  return policies.toSorted(
    (a, b) =>
      compare(tierOrder(a.tier), tierOrder(b.tier)) || compare(a.tier, b.tier) || compare(a.order, b.order) || compare(a.name, b.name),
  );
}

function compare<T extends number | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Whether the policy is in force on a host endpoint with given labels, those of its profiles included. */
export function hostPredicateOf({ onHosts }: GlobalPolicy): Predicate {
  return predicateOf(onHosts);
}
