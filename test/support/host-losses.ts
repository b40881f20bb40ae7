import type { KubeObject } from '../../src/kernel/object.ts';
import { storedMetadata } from '../../src/kube/stored-metadata.ts';

/** A host whose old endpoints had these labels; a policy selects hosts by `role=host`, which every old endpoint has. */
export interface WatchedHost {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** What a host lacks at this moment: an endpoint, one in force that the policy reaches, or a label that none of its endpoints has. */
export function hostLosses({ name, labels }: WatchedHost, endpoints: readonly KubeObject[], apiGroup: string): readonly string[] {
  const mine = endpoints.filter(({ spec }) => (spec as { readonly node?: string }).node === name);
  if (mine.length === 0) return [`${name} has no endpoint`];
  const inForce = mine.toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))[0];
  const labelsOf = (one: KubeObject) => storedMetadata(one, apiGroup).labels;
  // The agents go by the first name of a node, and the policy by this label: without it the host would be open.
  if (inForce && labelsOf(inForce).role !== 'host') return [`${name} is not policed: ${inForce.metadata.name} is in force`];
  const has = mine.map(labelsOf);
  return Object.entries(labels).flatMap(([key, value]) => (has.some((one) => one[key] === value) ? [] : [`${name} lost ${key}`]));
}

/** Labels of a person that a node had before anything was done, and has no more. */
export function nodeLosses({ name, labels }: WatchedHost, now: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(labels).flatMap(([key, value]) => (now[key] === value ? [] : [`node ${name} lost ${key} of a person`]));
}
