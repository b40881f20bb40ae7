import assert from 'node:assert/strict';
import type { FieldsV1, KubeObject } from '../../src/kernel/object.ts';
import { adoptedOwnership } from '../../src/kube/managed-fields.ts';
import { applyAfterAdoption, fieldsOf } from '../../src/manifest/apply-document.ts';
import { document, LAST, live } from '../support/worked-example.ts';

const applied = (object: KubeObject, said: KubeObject) => applyAfterAdoption(object, said, adoptedOwnership(object) ?? []);
const lastApplied: FieldsV1 = { 'f:annotations': { [`f:${LAST}`]: {} } };

describe('applying a document after ownership was handed over', () => {
  it('drops what the client-side apply said and the document does not', () => {
    const result = applied(live, document);
    assert.deepEqual(result?.data, { a: '3', c: 'live' });
    assert.equal(result?.metadata.annotations?.[LAST], undefined);
  });

  it('has no answer where nothing is handed over', () => {
    assert.equal(applied({ ...live, metadata: { name: 'm' } }, document), undefined);
  });

  it('merges list items by key, keeps what others added behind and replaces whole what is one value', () => {
    const own: FieldsV1 = {
      'f:metadata': lastApplied,
      'f:spec': { 'f:env': { 'k:{"name":"A"}': { '.': {}, 'f:value': {} }, 'k:{"name":"OLD"}': { '.': {} } }, 'f:args': {} },
    };
    const theirs: FieldsV1 = { 'f:spec': { 'f:env': { 'k:{"name":"MORE"}': { '.': {} } } } };
    const head = { apiVersion: 'v1', kind: 'Thing' };
    const before: KubeObject = {
      ...head,
      metadata: {
        name: 'x',
        managedFields: [
          { manager: 'kubectl-client-side-apply', operation: 'Update', fieldsV1: own },
          { manager: 'person', operation: 'Update', fieldsV1: theirs },
        ],
      },
      spec: { env: [{ name: 'A', value: '1' }, { name: 'OLD' }, { name: 'MORE' }], args: ['a'], nodeSelector: { a: 'b' } },
    };
    const after = {
      ...head,
      metadata: { name: 'x' },
      spec: { env: [{ name: 'A', valueFrom: {} }], args: ['b'], nodeSelector: { c: 'd' } },
    };
    assert.deepEqual(applied(before, after)?.spec, {
      env: [{ name: 'A', valueFrom: {} }, { name: 'MORE' }],
      args: ['b'],
      nodeSelector: { c: 'd' },
    });
  });

  it('names fields as the server does', () => {
    const spec = { ports: [{ containerPort: 80, name: 'x' }], finalizers: ['a'], args: ['b'], nodeSelector: { c: 'd' } };
    assert.deepEqual(fieldsOf({ spec }, ''), {
      'f:spec': {
        'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {}, 'f:name': {} } },
        'f:finalizers': { 'v:"a"': {} },
        'f:args': {},
        'f:nodeSelector': {},
      },
    });
  });
});
