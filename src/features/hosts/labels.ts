import type { Action, GuardedPatch } from '../../kernel/action.ts';
import { K } from '../../kernel/kinds.ts';
import { apiVersionOf, type JsonPatchOp, type KubeObject } from '../../kernel/object.ts';
import { changeTo, placesIn } from '../../kernel/object-change.ts';
import type { NodeVerdict } from '../policy-rules/index.ts';
import type { HepFacts } from './facts.ts';

/** Every label of the old endpoints that its node lacks (§4.7/1); a key that appears meanwhile is not written over. */
export function copyLabels({ nodes }: HepFacts, verdicts: readonly NodeVerdict[]): readonly Action[] {
  const byName = new Map(nodes.map((node) => [node.metadata.name, node]));
  const added = verdicts.flatMap(({ kubernetesNode, labels: { copies } }) => {
    const node = byName.get(kubernetesNode);
    if (copies.length === 0 || node?.metadata.uid === undefined) return [];
    return [{ node, labels: Object.fromEntries(copies.map(({ key, value }) => [key, value])) }];
  });
  if (added.length === 0) return [];
  const count = added.reduce((sum, { labels }) => sum + Object.keys(labels).length, 0);
  return [
    {
      id: 'labels',
      title: `copy ${count} ${count === 1 ? 'label' : 'labels'} of old host endpoints to ${added.length} ${added.length === 1 ? 'node' : 'nodes'}`,
      ref: '§4.7/1',
      undo: 'full',
      keep: { changes: added.map(({ node, labels }) => changeTo(node, placesIn(LABELS, labels))) },
      effect: { type: 'patch-all', what: 'nodes labelled', patches: added.map(({ node, labels }) => addLabels(node, labels)) },
    },
  ];
}

const LABELS = ['metadata', 'labels'];
type Labels = Readonly<Record<string, string>>;

/** A patch that adds labels to the very node that was read. */
export function addLabels({ metadata }: KubeObject, labels: Labels): GuardedPatch {
  const target = { apiVersion: apiVersionOf(K.Node), kind: 'Node', name: metadata.name };
  return { target, uid: metadata.uid ?? '', patch: additions(labels, metadata) };
}

/** JSON patch cannot test that a key is absent, so it tests the labels read or, for a node without any, its version. */
function additions(labels: Labels, { labels: before, resourceVersion }: KubeObject['metadata']): readonly JsonPatchOp[] {
  const each = Object.entries(placesIn(LABELS, labels)).map(([path, value]): JsonPatchOp => ({ op: 'add', path, value }));
  return before
    ? [{ op: 'test', path: '/metadata/labels', value: before }, ...each]
    : [
        ...(resourceVersion ? [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion } as const] : []),
        { op: 'add', path: '/metadata/labels', value: labels },
      ];
}
