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
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every((one) => isMet(one, labels));
}

function isMet({ key, operator, values = [] }: LabelRequirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** As lists and watches take it, and as users read it: `app=node,tier in (a,b),!canary`; empty for an empty selector. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const pairs = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`);
  return [...pairs.toSorted(), ...matchExpressions.map(requirementText)].join(',');
}

function requirementText({ key, operator, values = [] }: LabelRequirement): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
  }
}
