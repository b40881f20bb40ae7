import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hiddenIn, ownMetadataPatch, readsOwnMetadata, withOwnMetadata } from '../../../src/features/going-back/own-metadata.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { storedMetadata } from '../../../src/kube/stored-metadata.ts';
import { calico } from '../../../src/profiles/calico.ts';
import { labelsBy } from '../../support/old-release.ts';

type Texts = Readonly<Record<string, string>>;

const GROUP = calico.apiGroup;
const APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function stored(noted: object | string | undefined, labels?: Texts, annotations: Texts = {}): KubeObject {
  const text = noted === undefined ? {} : { [`${GROUP}/metadata`]: typeof noted === 'string' ? noted : JSON.stringify(noted) };
  const all = { ...annotations, ...text };
  const metadata = {
    ...{ name: 'set', namespace: 'shop', uid: 'u', resourceVersion: '7' },
    ...(labels ? { labels } : {}),
    ...(Object.keys(all).length > 0 ? { annotations: all } : {}),
  };
  return { apiVersion: 'crd.projectcalico.org/v1', kind: 'NetworkSet', metadata };
}

const opsOf = (object: KubeObject) => {
  const hidden = hiddenIn(object, GROUP);
  return hidden ? (ownMetadataPatch(object, hidden)?.patch ?? []).slice(1) : undefined;
};

describe('labels that older releases do not see', () => {
  const releases: readonly [string, boolean][] = [
    ['v3.15.5', true],
    ['v3.27.5', true],
    ['v3.28.0', false],
    ['v3.31.7', false],
  ];
  for (const [release, is] of releases)
    it(`${is ? 'are' : 'are not'} hidden from ${release}`, () => assert.equal(readsOwnMetadata(release, calico), is));

  const cases: readonly [string, KubeObject, ReturnType<typeof opsOf>][] = [
    ['nothing of an object without the annotation', stored(undefined, { a: 'b' }), undefined],
    ['nothing of one whose annotation is no JSON', stored('{', { a: 'b' }), undefined],
    ['nothing of one that has them', stored({ labels: { a: 'b' } }, { a: 'b' }), undefined],
    ['all of one that has none', stored({ labels: { a: 'b' } }), [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]],
    ['one more', stored({ labels: { 'x/y': 'b' } }, { c: 'd' }), [{ op: 'add', path: '/metadata/labels/x~1y', value: 'b' }]],
    [
      'the value that newer readers go by',
      stored({ labels: { a: 'new' } }, { a: 'old' }),
      [{ op: 'replace', path: '/metadata/labels/a', value: 'new' }],
    ],
    [
      'no annotation that a server refuses',
      stored({ annotations: { 'no key': 'n', 'Example.com/Note': 'n' } }),
      [{ op: 'add', path: '/metadata/annotations/Example.com~1Note', value: 'n' }],
    ],
    ['annotations as well', stored({ annotations: { note: 'n' } }), [{ op: 'add', path: '/metadata/annotations/note', value: 'n' }]],
    [
      'what kubectl noted, where nothing is',
      stored({ annotations: { [APPLIED]: '{}' } }),
      [{ op: 'add', path: `/metadata/annotations/${APPLIED.replace('/', '~1')}`, value: '{}' }],
    ],
    [
      'not what kubectl noted of the stored object',
      stored({ annotations: { [APPLIED]: '{}' } }, undefined, { [APPLIED]: '{"a":1}' }),
      undefined,
    ],
    ['nothing that is no text', stored({ labels: { a: 1 } }), undefined],
  ];
  for (const [what, object, wanted] of cases) it(what, () => assert.deepEqual(opsOf(object), wanted));

  it('are put there of the very object that was read', () => {
    const object = stored({ labels: { a: 'b' } });
    const hidden = hiddenIn(object, GROUP);
    const { uid, patch } = (hidden && ownMetadataPatch(object, hidden)) ?? {};
    assert.deepEqual([uid, patch?.[0]], ['u', { op: 'replace', path: '/metadata/resourceVersion', value: '7' }]);
  });

  it('are named where Kubernetes refuses them, and the others put there', () => {
    const object = stored({ labels: { 'a b': 'c', d: 'e f', g: 'h' } });
    assert.deepEqual(hiddenIn(object, GROUP)?.invalid, ['a b=c', 'd=e f']);
    assert.deepEqual(opsOf(object), [{ op: 'add', path: '/metadata/labels', value: { g: 'h' } }]);
    assert.deepEqual(hiddenIn(stored({ labels: { 'a b': 'c' } }), GROUP)?.invalid, ['a b=c']);
  });

  it('tell which values they replace', () => {
    assert.deepEqual(hiddenIn(stored({ labels: { a: 'new', b: 'c' } }, { a: 'old' }), GROUP)?.other, [
      { key: 'a', now: 'old', wanted: 'new' },
    ]);
  });

  it('go without annotations that are too large twice', () => {
    const object = stored({ labels: { a: 'b' }, annotations: { note: 'n'.repeat(140_000) } });
    assert.equal(hiddenIn(object, GROUP)?.tooLarge, true);
    assert.deepEqual(opsOf(object), [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]);
  });

  it('are then what newer releases read, whatever stands where, and nothing is left to put there', () => {
    const key = fc.stringMatching(/^[a-z][a-z0-9]{0,3}$/);
    const labels = fc.dictionary(key, key, { maxKeys: 4 });
    fc.assert(
      fc.property(labels, labels, labels, labels, (noted, own, notes, annotations) => {
        const object = stored({ labels: noted, annotations: notes }, own, annotations);
        const after = withOwnMetadata(object, GROUP);
        const [wanted, found] = [object, after].map((one) => storedMetadata(one, GROUP));
        assert.deepEqual(labelsBy('v3.26.4', after), wanted?.labels);
        assert.deepEqual(found, wanted);
        const { [`${GROUP}/metadata`]: _, ...seen } = after.metadata.annotations ?? {};
        assert.deepEqual(seen, wanted?.annotations);
        assert.equal(hiddenIn(after, GROUP), undefined);
      }),
    );
  });
});
