import assert from 'node:assert/strict';
import { previewDocument, previewDocuments } from '../../../src/features/install-manifest/preview.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { K } from '../../../src/kernel/kinds.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { applyJsonPatch } from '../../../src/manifest/json-patch.ts';
import { applyingCluster } from '../../support/applying-cluster.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { applied, document, live } from '../../support/worked-example.ts';

const kinds = [K.ConfigMap, K.Secret, K.CustomResourceDefinition];
const refusal = (status: number, message: string) => () => {
  throw new ApiFailure(status, 'Refused', message);
};
const renumbered = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

describe('previewing an apply', () => {
  it('shows what kubectl removes and its own dry run hides', async () => {
    const { cluster, requests } = clusterOf([live], { kinds, apply: () => applied, patch: (patch) => applyJsonPatch(live, patch) });
    const preview = await previewDocument(cluster, document);
    const { state, bodies, ...planned } = preview.planned;
    assert.match(`${state?.before} ${state?.after}`, /^sha256:\w{64} sha256:\w{64}$/);
    assert.deepEqual(planned, {
      ref: { apiVersion: 'v1', kind: 'ConfigMap', name: 'm', namespace: 'default', uid: 'u' },
      change: 'update',
      fields: [
        { path: 'data.a', before: '1', after: '3' },
        { path: 'data.b', before: '2' },
      ],
      hidden: ['data.b'],
      taken: [],
    });
    assert.deepEqual(bodies, { before: live, after: preview.result });
    assert.deepEqual(preview.result?.data, { a: '3', c: 'live' });
    assert.equal(preview.adopted?.[0]?.manager, 'kubectl');
    assert.deepEqual(requests, ['get configmaps', 'apply m as kubectl', 'patch m as kubectl']);
  });

  it('takes the dry run’s answer for the result where taking over ownership takes nothing away', async () => {
    const says = { 'f:data': { 'f:a': {}, 'f:b': {} } };
    const managedFields = (applied.metadata.managedFields ?? []).map((one) =>
      one.operation === 'Apply' ? { ...one, fieldsV1: says } : one,
    );
    const answer = { ...applied, metadata: { ...applied.metadata, managedFields } };
    const { cluster, requests } = clusterOf([live], { kinds, apply: () => answer });
    const { planned, adopted, result } = await previewDocument(cluster, { ...document, data: { a: '3', b: '2' } });
    assert.deepEqual([planned.fields, planned.hidden], [[{ path: 'data.a', before: '1', after: '3' }], []]);
    assert.equal(adopted?.[0]?.manager, 'kubectl');
    assert.equal(result, answer);
    assert.deepEqual(requests, ['get configmaps', 'apply m as kubectl']);
  });

  it('is a refusal where the object is being deleted: what is written to it would go with it', async () => {
    const going = { ...live, metadata: { ...live.metadata, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.org/hold'] } };
    const { cluster } = clusterOf([going], { kinds, apply: () => going });
    const { planned } = await previewDocument(cluster, { ...document, data: { a: '1', b: '2' } });
    assert.equal(planned.change, 'refused');
    assert.match(String(planned.note ?? ''), /marked for deletion at 2026-01-01T00:00:00Z/);
  });

  it('names whose fields it takes', async () => {
    const { cluster } = clusterOf([live], {
      kinds,
      apply: () => ({ ...renumbered(applied, '7'), data: { a: '3', b: '2', c: 'new' } }),
      patch: (patch) => applyJsonPatch(live, patch),
    });
    const { planned } = await previewDocument(cluster, { ...document, data: { a: '3', c: 'new' } });
    assert.deepEqual(planned.taken, [{ path: 'data.c', manager: 'kubectl-patch' }]);
  });

  it('says unchanged if nothing differs but what servers write', async () => {
    const plain = { ...live, metadata: { name: 'm', namespace: 'default', resourceVersion: '7', generation: 1 } };
    const { cluster, requests } = clusterOf([plain], {
      kinds,
      apply: () => ({ ...plain, metadata: { ...plain.metadata, generation: 2 } }),
    });
    const { planned } = await previewDocument(cluster, document);
    assert.deepEqual([planned.change, planned.fields], ['unchanged', []]);
    assert.equal(requests.length, 2);
  });

  it('never shows a value of a Secret', async () => {
    const secret = (data: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 's', resourceVersion: '1' },
      data: { k: data },
    });
    const { cluster } = clusterOf([secret('old')], { kinds });
    const { planned } = await previewDocument(cluster, secret('new'));
    assert.deepEqual(planned.fields, [{ path: 'data.k', before: '(hidden)', after: '(hidden)' }]);
  });

  it('asks again while the object changes', async () => {
    const { cluster, requests } = clusterOf([live], {
      kinds,
      apply: (_document, attempt) => (attempt === 1 ? renumbered(applied, '8') : applied),
      patch: (patch, attempt) => (attempt === 1 ? refusal(409, 'conflict')() : applyJsonPatch(live, patch)),
    });
    assert.equal((await previewDocument(cluster, document)).planned.change, 'update');
    assert.equal(requests.filter((one) => one.startsWith('get')).length, 3);
  });

  it('gives up on an object that never stands still', async () => {
    const { cluster, requests } = clusterOf([live], { kinds, apply: refusal(409, 'conflict') });
    await assert.rejects(previewDocument(cluster, document), Fault);
    assert.equal(requests.filter((one) => one.startsWith('get')).length, 6);
  });

  const outcomes: readonly [string, readonly KubeObject[], number, string][] = [
    ['creates what is not there', [], 0, 'create'],
    ['creates in a namespace that is not there yet', [], 404, 'create'],
    ['passes on a refusal of an invalid document', [live], 422, 'refused'],
    ['passes on a refusal of an unknown field', [], 500, 'refused'],
    ['passes on a missing permission', [live], 403, 'refused'],
  ];
  for (const [title, objects, status, change] of outcomes) {
    it(title, async () => {
      const apply = refusal(status, 'the server says why');
      const { cluster } = clusterOf(objects, { kinds, patch: refusal(422, 'no'), ...(status > 0 ? { apply } : {}) });
      const { planned, isImmutable } = await previewDocument(cluster, document);
      const note = status > 0 ? 'the server says why' : undefined;
      assert.deepEqual([planned.change, planned.note, isImmutable], [change, note, undefined]);
    });
  }

  it('accepts a document that only collides with what the handing over of ownership removes', async () => {
    const { cluster } = clusterOf([live], { kinds, apply: refusal(422, 'both'), patch: (patch) => applyJsonPatch(live, patch) });
    const { planned, result } = await previewDocument(cluster, document);
    assert.deepEqual([planned.change, result?.data], ['update', { a: '3', c: 'live' }]);
    assert.match(String(planned.note ?? ''), /ownership.*both/);
  });

  it('does not take silence for an answer', async () => {
    const { cluster } = clusterOf([live], { kinds, apply: refusal(0, 'no route') });
    await assert.rejects(previewDocument(cluster, document), /no route/);
  });

  it('reports a removal that the server refuses', async () => {
    const { cluster } = clusterOf([live], { kinds, apply: () => applied, patch: refusal(422, 'field is immutable') });
    const { planned, isImmutable } = await previewDocument(cluster, document);
    assert.deepEqual([planned.change, isImmutable], ['refused', true]);
    assert.match(String(planned.note ?? ''), /field is immutable/);
  });

  it('keeps the order and creates objects whose kind comes with them', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 't' },
      spec: { group: 'x.io', names: { kind: 'Thing' } },
    };
    const objects = [
      definition,
      { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' } },
      { apiVersion: 'y.io/v1', kind: 'Thing', metadata: { name: 'b' } },
      document,
    ];
    const documents = objects.map((object) => ({ object, text: '', line: 1 }));
    const { cluster } = clusterOf([], { kinds });
    const planned = (await previewDocuments(cluster, { name: 'x', documents })).map((one) => one.planned);
    assert.deepEqual(
      planned.map(({ ref, change }) => `${ref.name} ${change}`),
      ['t create', 'a create', 'b refused', 'm create'],
    );
  });

  it('is not certain of objects whose definition changes with them, and is of those whose definition stays', async () => {
    const definition = (version: string) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'things.x.io' },
      spec: { group: 'x.io', names: { kind: 'Thing', plural: 'things' }, versions: [{ name: version }] },
    });
    const thing: KubeObject = { apiVersion: 'x.io/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { b: 1 } };
    const { cluster } = applyingCluster([definition('v1'), thing]);
    const noteWith = async (version: string) => {
      const documents = [definition(version), thing].map((object) => ({ object, text: '', line: 1 }));
      const [, { planned } = assert.fail()] = await previewDocuments(cluster, { name: 'x', documents });
      return planned.note;
    };
    assert.equal(await noteWith('v1'), undefined);
    assert.match(String((await noteWith('v2')) ?? ''), /its definition changes with it: .* cannot be predicted exactly/);
  });
});
