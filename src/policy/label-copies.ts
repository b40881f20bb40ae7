import type { AutomaticSigns, HostEndpoint } from '../core/host-endpoint.ts';
import type { Labels } from './selector.ts';

/** A label of an old endpoint that its node shall get (§4.7/1). */
export interface LabelCopy {
  readonly key: string;
  readonly value: string;
  readonly from: string;
}

/** A label that is not copied, and why. */
export interface LabelProblem {
  readonly key: string;
  readonly value: string;
  /** Name of the endpoint. */
  readonly from: string;
  /** `conflict`: the node, or another old endpoint of it, has the key with `other`; `invalid`: Kubernetes refuses it; `reserved`: others own it. */
  readonly problem: 'conflict' | 'invalid' | 'reserved';
  readonly other?: string;
}

export interface LabelCopies {
  readonly copies: readonly LabelCopy[];
  readonly problems: readonly LabelProblem[];
}

/** Kubernetes' own prefixes steer scheduling, volumes and node restrictions: never copied (domain §8.4). */
const RESERVED = /^(?:[^/]+\.)?(?:kubernetes|k8s)\.io\//;
const NAME = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$/;
const PREFIX = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Which labels of a node's old endpoints the node lacks. What the node has with the same value is done already;
 * what it has with another value is a conflict for a person: other things may select by it.
 */
export function labelCopies(endpoints: readonly HostEndpoint[], nodeLabels: Labels, signs: AutomaticSigns): LabelCopies {
  const copies = new Map<string, LabelCopy>();
  const problems: LabelProblem[] = [];
  for (const endpoint of endpoints) {
    for (const [key, value] of Object.entries(endpoint.labels)) {
      const label = { key, value, from: endpoint.name };
      if (key === signs.createdBy) continue;
      const problem = problemOf(label, nodeLabels, copies);
      if (problem) problems.push(problem);
      else if (nodeLabels[key] === undefined && !copies.has(key)) copies.set(key, label);
    }
  }
  const conflicting = new Set(problems.filter(({ problem }) => problem === 'conflict').map(({ key }) => key));
  return { copies: [...copies.values()].filter(({ key }) => !conflicting.has(key)), problems };
}

function problemOf(label: LabelCopy, nodeLabels: Labels, copies: ReadonlyMap<string, LabelCopy>): LabelProblem | undefined {
  const { key, value } = label;
  const there = nodeLabels[key] ?? copies.get(key)?.value;
  if (there === value) return undefined;
  if (RESERVED.test(key)) return { ...label, problem: 'reserved', ...(there === undefined ? {} : { other: there }) };
  if (!isLabelKey(key) || !isLabelValue(value)) return { ...label, problem: 'invalid' };
  return there === undefined ? undefined : { ...label, problem: 'conflict', other: there };
}

/** `prefix/name` by Kubernetes' rules. */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  return NAME.test(key.slice(slash + 1)) && (prefix === undefined || (prefix.length <= 253 && PREFIX.test(prefix)));
}

export function isLabelValue(value: string): boolean {
  return value === '' || NAME.test(value);
}
