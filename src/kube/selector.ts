import type { KubeObject } from '../kernel/object.ts';

/** The selector of a workload or a disruption budget, as the API writes it. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

export function selectorOf(object: KubeObject): LabelSelector | undefined {
  return (object as { readonly spec?: { readonly selector?: LabelSelector } }).spec?.selector;
}

/** True if all of the selector holds for the labels: an empty selector selects everything, none at all selects nothing. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => OPERATORS[operator].holds(labels[key], values))
  );
}

interface Operator {
  readonly holds: (value: string | undefined, values: readonly string[]) => boolean;
  readonly text: (key: string, values: readonly string[]) => string;
}

const OPERATORS: Readonly<Record<LabelRequirement['operator'], Operator>> = {
  In: { holds: (value, values) => value !== undefined && values.includes(value), text: (key, values) => `${key} in (${values})` },
  NotIn: { holds: (value, values) => value === undefined || !values.includes(value), text: (key, values) => `${key} notin (${values})` },
  Exists: { holds: (value) => value !== undefined, text: (key) => key },
  DoesNotExist: { holds: (value) => value === undefined, text: (key) => `!${key}` },
};

/** As lists and watches take it, and as users read it: `app=node,tier in (a,b),!canary`; empty for an empty selector. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...pairs.toSorted(), ...matchExpressions.map(({ key, operator, values = [] }) => OPERATORS[operator].text(key, values))].join(
    ',',
  );
}
