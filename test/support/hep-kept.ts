import type { KeptChanges } from '../../src/kernel/action.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changeTo, type KeptChange, keptChanges, placesIn } from '../../src/kernel/object-change.ts';
import type { KeptItem, KeptOutcome } from '../../src/kernel/run-record.ts';

/** What `hep` and its undo keep before they change things. */

const SWITCH = '/spec/controllers/node/hostEndpoint/autoCreate';
const CONFIGURATION = { apiVersion: 'v3', kind: 'KubeControllersConfiguration', name: 'default' };

export const switched = (to: 'Enabled' | 'Disabled'): KeptChanges => ({
  changes: [{ ref: CONFIGURATION, before: {}, after: { [SWITCH]: to } }],
  ...(to === 'Disabled' ? { undo: true } : {}),
});

/** The same labels on some nodes, whose uids are their names unless said. */
export function labelled(labels: Readonly<Record<string, string>>, nodes: readonly string[], uidOf = (name: string) => name): KeptChanges {
  const after = placesIn(['metadata', 'labels'], labels);
  return { changes: nodes.map((name) => ({ ref: { apiVersion: 'v1', kind: 'Node', name, uid: uidOf(name) }, before: {}, after })) };
}

export const removed = (...endpoints: readonly KubeObject[]): KeptChanges => ({
  changes: endpoints.map((one) => changeTo(one, { '': undefined })),
});

/** The undo of them. */
export function undone({ changes }: KeptChanges): KeptChanges {
  return { changes: changes.map(({ ref, before, after }) => ({ ref, before: after, after: before })), undo: true };
}

export function keptItem(id: string, content: unknown, outcome?: KeptOutcome): KeptItem {
  return { id, content, ...(outcome ? { outcome } : {}) };
}

/** As a stage reads them, the oldest first. */
export async function asRead(items: readonly KeptItem[]): Promise<readonly KeptChange[]> {
  const numbered = items.map((item, index) => ({ ...item, id: `${item.id.split('#')[0]}#${index + 1}` }));
  return keptChanges({ keptWith: async () => numbered }, 'hep', () => true);
}
