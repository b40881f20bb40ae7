import type { Context } from '../../kernel/context.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { hostEndpointOf, isAllInterfaces, isCopied, originOf } from '../policy-rules/index.ts';
import type { AddedLabel } from './kept.ts';

/** By which all patches of this program write. */
const PATCHER = 'kubectl';

/**
 * Why the undo keeps a label on a node; undefined where it removes it. The record is no proof, as whoever can write it could have any label
 * removed: the server's note of who wrote the label last is.
 */
export function whyLabelStays({ key }: AddedLabel, node: KubeObject, { profile }: Context): string | undefined {
  if (!isCopied(key, profile.labels)) return 'the migration copies no such label';
  return ownedLabels(node).has(key) ? undefined : 'somebody else has written it since, or always had';
}

/** Keys of the labels that patches of this program wrote, and nobody changed after them. */
function ownedLabels({ metadata: { managedFields = [] } }: KubeObject): ReadonlySet<string> {
  const own = managedFields.filter(({ manager, operation, subresource }) => manager === PATCHER && operation === 'Update' && !subresource);
  const labels = own.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1?.['f:metadata']?.['f:labels'] ?? {}));
  return new Set(labels.filter((one) => one.startsWith('f:')).map((one) => one.slice(2)));
}

const NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Why an endpoint is not created again: the migration deletes nothing of the kind. `nodes`: as endpoints name them. */
export function whyEndpointStaysAway(endpoint: KubeObject, nodes: ReadonlySet<string>, { profile }: Context): string | undefined {
  const read = hostEndpointOf(endpoint, profile.apiGroup);
  if (!NAME.test(read.name)) return 'it has no name that an endpoint can have';
  if (!isAllInterfaces(read)) return 'it is not of all interfaces';
  if (originOf(read, profile.labels) !== 'old') return 'it looks like one of the controllers’ own';
  return nodes.has(read.node) ? undefined : `there is no node ${read.node}`;
}
