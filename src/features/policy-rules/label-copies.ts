import type { AutomaticSigns, HostEndpoint } from './host-endpoint.ts';
import type { Labels } from './selector.ts';

/** A label of an old endpoint that its node shall get (§4.7/1). */
export interface LabelCopy {
  readonly key: string;
  readonly value: string;
  /** Name of the endpoint. */
  readonly from: string;
}

/** A label that is not copied, and why. */
export interface LabelProblem extends LabelCopy {
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
 * Which labels of a node's old endpoints the Kubernetes node lacks. Another value there, or on the service's own node (`ownLabels`), is a
 * conflict for the user, as other things may select by it.
 */
export function labelCopies(
  endpoints: readonly HostEndpoint[],
  nodeLabels: Labels,
  signs: AutomaticSigns,
  ownLabels: Labels = {},
): LabelCopies {
  const copies = new Map<string, LabelCopy>();
  const problems: LabelProblem[] = [];
  for (const endpoint of endpoints) {
    for (const [key, value] of Object.entries(endpoint.labels)) {
      const label = { key, value, from: endpoint.name };
      if (key === signs.createdBy) continue;
      const problem = problemOf(label, nodeLabels[key] ?? copies.get(key)?.value ?? ownLabels[key]);
      if (problem) problems.push(problem);
      else if (nodeLabels[key] === undefined && !copies.has(key) && !RESERVED.test(key)) copies.set(key, label);
    }
  }
  const conflicting = new Set(problems.filter(({ problem }) => problem === 'conflict').map(({ key }) => key));
  return { copies: [...copies.values()].filter(({ key }) => !conflicting.has(key)), problems };
}

function problemOf(label: LabelCopy, there: string | undefined): LabelProblem | undefined {
  const { key, value } = label;
  if (there === value) return undefined;
  if (RESERVED.test(key)) return { ...label, problem: 'reserved', ...(there === undefined ? {} : { other: there }) };
  if (!isLabelKey(key) || !isLabelValue(value)) return { ...label, problem: 'invalid' };
  return there === undefined ? undefined : { ...label, problem: 'conflict', other: there };
}

/** False for keys that are never copied to a node, whatever their value. */
export function isCopied(key: string, signs: Pick<AutomaticSigns, 'createdBy'>): boolean {
  return key !== signs.createdBy && !RESERVED.test(key) && isLabelKey(key);
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
