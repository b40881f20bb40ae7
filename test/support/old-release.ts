import { mapAt, parsedJson } from '../../src/kernel/json.ts';
import type { KubeObject } from '../../src/kernel/object.ts';

/**
 * How releases of Calico before v3.32 store and show policies of the default tier, by their own sources, apart from ours. `v3.26`:
 * `convertPolicyNameForStorage` and `convertPolicyNameFromStorage` of `clientv3`. `v3.29.0`: `TieredPolicyName`, and nothing on the way
 * back. `v3.31`: the same, and `determinePolicyName`.
 */
export type OldRelease = 'v3.26.4' | 'v3.29.0' | 'v3.31.7';

const FORMATTED = ['knp.default.', 'kanp.adminnetworkpolicy.', 'kbanp.baselineadminnetworkpolicy.', 'ossg.'];
const OLDEST = ['knp.', 'ossg.'];

const starts = (name: string, heads: readonly string[]): boolean => heads.some((head) => name.startsWith(head));

/** The stored name that it asks for. */
export function askedBy(release: OldRelease, name: string): string {
  if (release === 'v3.26.4') return starts(name, OLDEST) ? name : `default.${name}`;
  return starts(name, FORMATTED) || name.includes('.') ? name : `default.${name}`;
}

/** The name under which it lists a stored policy. */
export function shownBy(release: OldRelease, policy: KubeObject): string {
  const stored = policy.metadata.name;
  if (release === 'v3.29.0') return stored;
  if (release === 'v3.26.4') return starts(stored, OLDEST) ? stored : stored.slice(stored.indexOf('.') + 1);
  const text = policy.metadata.annotations?.['projectcalico.org/metadata'];
  if (text === undefined) return stored;
  const { name } = mapAt(parsedJson(text));
  return typeof name === 'string' && name !== '' ? name : stored.replace(/^default\./, '');
}

/** The tier that its agents count it to. */
export function tierBy(release: OldRelease, { metadata: { name } }: KubeObject): string {
  if (release === 'v3.26.4' || !name.includes('.') || name.startsWith('ossg.')) return 'default';
  if (name.startsWith('knp.default.')) return 'default';
  return name.slice(0, name.indexOf('.'));
}

/** The labels that it reads. */
export const labelsBy = (release: OldRelease, { metadata }: KubeObject): Readonly<Record<string, string>> =>
  release === 'v3.26.4' ? { ...metadata.labels } : { ...metadata.labels, ...(notedOf(metadata.annotations).labels as object) };

const notedOf = (annotations: KubeObject['metadata']['annotations']) =>
  mapAt(parsedJson(annotations?.['projectcalico.org/metadata'] ?? '{}'));
