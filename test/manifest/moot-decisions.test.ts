import assert from 'node:assert/strict';
import type { Side } from '../../src/kernel/edit.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { mergeManifest } from '../../src/manifest/merge.ts';
import { config, env } from '../support/merge-cases.ts';

const from = (key: string) => ({ valueFrom: { configMapKeyRef: { name: 'config', key } } });
const VARIABLE = 'DaemonSet/kube-system/node:spec.template.spec.containers[c].env[A]';
const KEY = 'ConfigMap/kube-system/config:data.mtu';

/** A person removed a variable and a key; in the target the variable reads that key. */
const base = [config({ mtu: '0', x: '1' }), env({ A: from('x') })];
const mine = [config({ x: '1' }), env({})];
const theirs = [config({ mtu: '0', x: '1' }), env({ A: from('mtu') })];

function merged(resolutions: Readonly<Record<string, Side>>): {
  readonly documents: readonly KubeObject[];
  readonly unused: readonly string[];
  readonly open: readonly string[];
} {
  const { documents, unused, conflicts } = mergeManifest({ base, mine, theirs, resolutions });
  return { documents, unused, open: conflicts.map(({ field }) => field) };
}

describe('a decision that another one makes moot', () => {
  it('is asked for as long as the other is open', () => {
    assert.deepEqual(merged({}).open.toSorted(), [KEY, VARIABLE]);
  });

  for (const side of ['mine', 'theirs'] as const) {
    it(`passes, and stands: the key as ${side} beside the variable as mine`, () => {
      const { documents, unused, open } = merged({ [VARIABLE]: 'mine', [KEY]: side });
      assert.deepEqual([unused, open], [[], []]);
      assert.deepEqual(documents, [side === 'mine' ? config({ x: '1' }) : config({ mtu: '0', x: '1' }), env({})]);
    });
  }

  it('is not one that nothing ever asked for', () => {
    assert.deepEqual(merged({ [VARIABLE]: 'mine', [KEY]: 'mine', 'ConfigMap/kube-system/config:data.x': 'mine' }).unused, [
      'ConfigMap/kube-system/config:data.x',
    ]);
  });
});
