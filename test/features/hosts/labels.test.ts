import assert from 'node:assert/strict';
import { addLabels } from '../../../src/features/hosts/labels.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';

const node = (labels?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', uid: 'u1', resourceVersion: '7', ...(labels ? { labels } : {}) },
});

describe('labels of old endpoints on their node', () => {
  it('are added beside the very labels that were read', () =>
    assert.deepEqual(addLabels(node({ zone: 'a' }), { 'x.io/role': 'edge' }).patch, [
      { op: 'test', path: '/metadata/labels', value: { zone: 'a' } },
      { op: 'add', path: '/metadata/labels/x.io~1role', value: 'edge' },
    ]));

  it('write over none that a node without labels got meanwhile', () =>
    assert.deepEqual(addLabels(node(), { role: 'edge' }).patch, [
      { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/metadata/labels', value: { role: 'edge' } },
    ]));
});
