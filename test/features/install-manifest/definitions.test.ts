import assert from 'node:assert/strict';
import { definitionEdits } from '../../../src/features/install-manifest/definitions.ts';
import type { OwnObject } from '../../../src/features/install-manifest/own-objects.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';

const definition = (spec: object, apiVersion = 'apiextensions.k8s.io/v1'): KubeObject => ({
  apiVersion,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'pools.example.org' },
  spec: { group: 'example.org', names: { kind: 'Pool', plural: 'pools' }, ...spec },
});

const at = (release: string, ...documents: readonly KubeObject[]) => ({ release, documents });
const old = definition({ scope: 'Cluster', preserveUnknownFields: false });
const target = definition({ scope: 'Cluster', versions: [{ name: 'v2' }] });
const own = (live: KubeObject, applied?: KubeObject): readonly OwnObject[] => [
  { document: target, state: 'present', live, ...(applied ? { applied } : {}) },
];
/** As the server stores it. */
const stored = (spec: object) =>
  definition({
    scope: 'Cluster',
    conversion: { strategy: 'None' },
    names: { kind: 'Pool', plural: 'pools', singular: 'pool', listKind: 'PoolList' },
    ...spec,
  });

function told(objects: readonly OwnObject[], base = at('v1.0.0', old), others = [base], installed = 'v1.0.0') {
  return definitionEdits(objects, base, others, [target], installed).map(({ outcome, mine, source, note }) =>
    [outcome, mine, source.kind, note].join(' | '),
  );
}

describe('definitions of resources that somebody edited', () => {
  it('are reported with the fields that differ, and never carried', () => {
    const edited = stored({ scope: 'Namespaced', mine: 1 });
    assert.deepEqual(told(own(edited)), [
      'target | 2 fields differ | live | Definitions of resources always come from the target. Compared with v1.0.0: spec.scope, spec.mine.',
    ]);
  });

  it('are told by what kubectl noted, where there is such a note', () => {
    const [line] = told(own(stored({ mine: 1, served: 2 }), definition({ scope: 'Cluster', mine: 1 })));
    assert.match(line ?? '', /1 field differs \| last-applied .*spec\.mine/);
  });

  it('are not those that a release has just as they are now, though kubectl’s note of long ago says otherwise', () => {
    const note = definition({ scope: 'Cluster', mine: 1 });
    assert.deepEqual(told(own(stored({}), note)), []);
    assert.deepEqual(told(own(stored({}), note), at('v1.0.0', old), []), []);
    const other = at('v1.0.1', definition({ scope: 'Namespaced' }));
    assert.deepEqual(told(own(stored({ scope: 'Namespaced' }), note), at('v1.0.0', old), [other]), []);
  });

  it('are not those that only the server filled in', () => {
    assert.deepEqual(told(own(stored({}))), []);
    assert.deepEqual(told(own(stored({}), old)), []);
  });

  it('are not those that another release or the target has just so', () => {
    const other = definition({ scope: 'Namespaced' });
    const all = [at('v1.0.0', old), at('v1.0.1', other)];
    assert.deepEqual(told(own(stored({ scope: 'Namespaced' }), other), all[0], all), []);
    assert.deepEqual(told(own(stored({ versions: [{ name: 'v2' }] }))), []);
  });

  it('are not told where the release had them under another API version', () => {
    const before = at('v1.0.0', definition({}, 'apiextensions.k8s.io/v1beta1'));
    assert.deepEqual(told(own(stored({ mine: 1 })), before), []);
  });

  it('may be another release’s own, and it is said so, where that of the installed one is not at hand', () => {
    const base = at('v1.0.0', old);
    assert.match(told(own(stored({ mine: 1 })), base, [base], 'v1.0.7')[0] ?? '', /it may be just that/);
  });

  describe('with an annotation or a label of somebody', () => {
    const marked = (spec: object = {}, marks: object = { annotations: { 'example.org/owner': 'me' } }): KubeObject => {
      const live = stored(spec);
      const managedFields = [
        {
          manager: 'kubectl-annotate',
          operation: 'Update',
          fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:example.org/owner': {} } } },
        },
      ];
      return { ...live, metadata: { ...live.metadata, ...marks, managedFields } } as KubeObject;
    };
    const rows = (objects: readonly OwnObject[], theirs = target) =>
      definitionEdits(objects, at('v1.0.0', old), [at('v1.0.0', old)], [theirs], 'v1.0.0').map(({ outcome, path, mine, source, note }) => [
        outcome,
        path,
        mine,
        source.manager,
        note,
      ]);
    const STAYS = 'It stays in the cluster: the target does not set it.';

    it('keep it: the target says nothing of it', () => {
      assert.deepEqual(rows(own(marked())), [['kept', 'metadata.annotations[example.org/owner]', 'me', 'kubectl-annotate', STAYS]]);
      assert.deepEqual(
        rows(own(marked({}, { labels: { team: 'net' } }))).map(([outcome, path]) => [outcome, path]),
        [['kept', 'metadata.labels.team']],
      );
    });

    it('tell it apart from what comes from the target', () => {
      const [first, second, ...more] = rows(own(marked({ scope: 'Namespaced' })));
      assert.deepEqual([first?.[0], second?.slice(0, 3), more], ['kept', ['target', '', '1 field differs'], []]);
    });

    it('lose it where it was in the file that kubectl applied, or where the target has its own', () => {
      const annotations = { 'example.org/owner': 'me' };
      const applied = { ...old, metadata: { ...old.metadata, annotations } };
      assert.deepEqual(
        rows(own(marked(), applied)).map(([outcome, path]) => [outcome, path]),
        [['target', '']],
      );
      const theirs = { ...target, metadata: { ...target.metadata, annotations: { 'example.org/owner': 'release' } } };
      assert.deepEqual(
        rows(own(marked()), theirs).map(([outcome]) => outcome),
        ['target'],
      );
    });
  });
});
