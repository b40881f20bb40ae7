import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { FieldsV1, KubeObject, ManagedFieldsEntry } from '../../src/kernel/object.ts';
import { prune, union } from '../../src/kube/fields-v1.ts';
import { adoptedOwnership, clientSideManagers, predictApply, referenceWriter, writerText } from '../../src/kube/managed-fields.ts';
import { applyJsonPatch, diffPatch, PatchFailure } from '../../src/manifest/json-patch.ts';
import { applied, document, LAST, live } from '../support/worked-example.ts';

const managers = (object: KubeObject) => object.metadata.managedFields ?? [];
const withManagers = (object: KubeObject, managedFields: readonly ManagedFieldsEntry[]): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields },
});

describe('predicting a server-side apply over a client-side one', () => {
  it('removes what only the client-side apply owned and keeps what a person added', () => {
    assert.deepEqual(clientSideManagers(managers(applied)), ['kubectl-client-side-apply']);
    const predicted = predictApply(applied, document);
    assert.deepEqual([predicted.migrates, predicted.removes, predicted.exact], [true, true, true]);
    assert.deepEqual(predicted.object.data, { a: '3', c: 'live' });
    assert.equal(predicted.object.metadata.annotations?.[LAST], '{}');
    assert.equal(predicted.object.metadata.managedFields, undefined);
  });

  it('removes nothing where the document still says everything that was applied client-side', () => {
    const says: FieldsV1 = { 'f:data': { 'f:a': {}, 'f:b': {} } };
    const all = managers(applied).map((entry) => (entry.operation === 'Apply' ? { ...entry, fieldsV1: says } : entry));
    const predicted = predictApply(withManagers(applied, all), { ...document, data: { a: '3', b: '2' } });
    assert.deepEqual([predicted.migrates, predicted.removes], [true, false]);
    const { managedFields: _, ...metadata } = applied.metadata;
    assert.deepEqual(predicted.object, { ...applied, metadata });
  });

  it('becomes the patch that is then asked for', () => {
    assert.deepEqual(diffPatch(live, predictApply(applied, document).object), [
      { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
      { op: 'add', path: '/data', value: { a: '3', c: 'live' } },
    ]);
  });

  it('is the answer itself where nobody owns the last-applied annotation', () => {
    const plain = withManagers(applied, managers(applied).slice(2));
    assert.deepEqual(predictApply(plain, document), { object: plain, migrates: false, removes: false, exact: true });
  });

  it('lets last-applied go under another manager than kubectl, and keeps the identity', () => {
    const [mine, ...rest] = managers(applied);
    const predicted = predictApply(withManagers(applied, [{ ...mine, manager: 'x' }, ...rest]), document, 'x').object;
    assert.deepEqual(predicted.metadata, { name: 'm', namespace: 'default', uid: 'u', resourceVersion: '7' });
  });

  it('is not called exact across API versions', () => {
    const other = managers(applied).map((one) => ({ ...one, apiVersion: 'v1beta1' }));
    assert.equal(predictApply(withManagers(applied, other), document).exact, false);
  });

  it('is not called exact for a custom resource that loses fields', () => {
    const own = { apiVersion: 'example.org/v1', kind: 'Thing' };
    const entries = managers(applied).map((one) => ({ ...one, apiVersion: own.apiVersion }));
    assert.equal(predictApply({ ...withManagers(applied, entries), ...own }, { ...document, ...own }).exact, false);
  });

  it('sends the stringData of a Secret again', () => {
    const secret = { ...document, kind: 'Secret', stringData: { k: 'v' } };
    assert.deepEqual(predictApply({ ...applied, kind: 'Secret' }, secret).object.stringData, { k: 'v' });
  });
});

describe('handing ownership over before the apply', () => {
  const [client, person] = managers(live);

  it('turns the client-side entry into the one of kubectl', () => {
    assert.deepEqual(adoptedOwnership(live), [{ ...client, manager: 'kubectl', operation: 'Apply' }, person]);
  });

  it('unites with an Apply entry that is there already', () => {
    const joined = adoptedOwnership(applied);
    assert.deepEqual(
      joined?.map(({ manager, operation }) => `${operation} ${manager}`),
      ['Apply kubectl', 'Update kubectl-patch'],
    );
    assert.deepEqual(joined?.[0]?.fieldsV1?.['f:data'], { 'f:a': {}, '.': {}, 'f:b': {} });
  });

  it('leaves entries of subresources alone and drops other API versions', () => {
    const more = [...managers(live), { ...client, apiVersion: 'v2' }, { ...client, subresource: 'status' }];
    const left = adoptedOwnership(withManagers(live, more))?.map(
      ({ operation, manager, subresource = '' }) => `${operation} ${manager} ${subresource}`,
    );
    assert.deepEqual(left, ['Apply kubectl ', 'Update kubectl-patch ', 'Update kubectl-client-side-apply status']);
  });

  it('does not count a server-side apply of the annotation, nor one of a subresource', () => {
    const fieldsV1: FieldsV1 = { 'f:metadata': { 'f:annotations': { [`f:${LAST}`]: {} } } };
    assert.deepEqual(clientSideManagers([{ ...client, manager: 'kubectl', operation: 'Apply', fieldsV1 }]), []);
    const ofStatus = { ...client, manager: 'kubectl', operation: 'Apply', subresource: 'status' } as const;
    assert.deepEqual(adoptedOwnership(withManagers(live, [ofStatus, ...managers(live)])), [
      ofStatus,
      { ...client, manager: 'kubectl', operation: 'Apply' },
      person,
    ]);
  });

  it('has nothing to do without a client-side apply', () => {
    assert.equal(adoptedOwnership(withManagers(live, [])), undefined);
  });
});

describe('removing fields that nobody owns any more', () => {
  const item = 'k:{"port":80,"protocol":"TCP"}';
  const cases: readonly [string, unknown, FieldsV1, FieldsV1, unknown][] = [
    [
      'a list item by its keys',
      [
        { port: 80, protocol: 'TCP' },
        { port: '80', protocol: 'TCP' },
      ],
      { [item]: { '.': {} } },
      {},
      [{ port: '80', protocol: 'TCP' }],
    ],
    [
      'a field of a kept item',
      [{ port: 80, protocol: 'TCP', a: 1 }],
      { [item]: { '.': {}, 'f:a': {} } },
      { [item]: { '.': {} } },
      [{ port: 80, protocol: 'TCP' }],
    ],
    ['an item of a set', ['a', 'b'], { 'v:"a"': {} }, {}, ['b']],
    ['everything below, whoever owns it', { a: { b: 1, c: 2 } }, { 'f:a': { '.': {} } }, {}, {}],
    ['nothing that another still owns', { a: { b: 1 } }, { 'f:a': { 'f:b': {} } }, { 'f:a': { 'f:b': {} } }, { a: { b: 1 } }],
    ['the last field but not its parent', { a: { b: 1 } }, { 'f:a': { '.': {}, 'f:b': {} } }, { 'f:a': { '.': {} } }, { a: {} }],
  ];
  for (const [title, value, last, owned, left] of cases) {
    it(`removes ${title}`, () => assert.deepEqual(prune(value, last, owned), left));
  }

  it('unites sets without losing membership', () => {
    assert.deepEqual(union({ 'f:a': {} }, { 'f:a': { 'f:b': {} } }), { 'f:a': { '.': {}, 'f:b': {} } });
  });
});

describe('JSON patches', () => {
  const keys = fc.constantFrom('a', 'b/c', 'd~e', '~1', 'spec', '__proto__x');
  const object = fc.record({ labels: fc.dictionary(keys, fc.string()), fields: fc.dictionary(keys, fc.jsonValue({ maxDepth: 2 })) });

  it('lead from any object to the wanted one', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        const [was, wanted] = [from, to].map(({ labels, fields }, index) => ({
          apiVersion: 'v1',
          kind: 'Thing',
          metadata: { name: 'x', resourceVersion: String(index), labels },
          ...fields,
        }));
        assert.ok(was && wanted);
        assert.deepEqual(sorted(applyJsonPatch(was, diffPatch(was, wanted))), sorted(wanted));
      }),
    );
  });

  const sorted = (value: unknown) => JSON.parse(JSON.stringify(value));
  const state = { a: [1, 2], 'b/c': { 'd~e': 1 } };
  it('work on lists and escaped names and leave the original as it was', () => {
    const copy = structuredClone(state);
    const ops = [
      { op: 'test', path: '/b~1c/d~0e', value: 1 },
      { op: 'add', path: '/a/0', value: 0 },
      { op: 'add', path: '/a/-', value: 3 },
      { op: 'remove', path: '/a/1' },
      { op: 'replace', path: '/b~1c', value: null },
    ] as const;
    assert.deepEqual(applyJsonPatch<unknown>(state, ops), { a: [0, 2, 3], 'b/c': null });
    assert.deepEqual(state, copy);
  });

  const failing = [
    { op: 'test', path: '/a/0', value: 2 },
    { op: 'remove', path: '/x' },
    { op: 'replace', path: '/x', value: 1 },
    { op: 'add', path: '/x/y', value: 1 },
    { op: 'add', path: '/a/4', value: 1 },
    { op: 'replace', path: '/a/2', value: 1 },
    { op: 'add', path: 'a', value: 1 },
  ] as const;
  for (const op of failing) {
    it(`fail on ${op.op} ${op.path} where it cannot be done`, () =>
      assert.throws(() => applyJsonPatch<unknown>(state, [op]), PatchFailure));
  }
});

const UID = '6f1d2f3c-0000-4000-8000-000000000001';
/** Owns references with these UIDs, as a real API server books them. */
const owns = (...uids: readonly string[]): FieldsV1 => ({
  'f:metadata': { 'f:ownerReferences': { '.': {}, ...Object.fromEntries(uids.map((uid) => [`k:{"uid":"${uid}"}`, {}])) } },
});
const entry = (manager: string, fieldsV1: FieldsV1, more: ManagedFieldsEntry = {}): ManagedFieldsEntry => ({
  ...{ manager, operation: 'Update', apiVersion: 'v1', time: '2026-11-22T13:00:00Z', fieldsType: 'FieldsV1', fieldsV1 },
  ...more,
});
const at = (minute: string) => ({ time: `2026-11-22T13:${minute}:00Z` });

describe('who wrote an owner reference', () => {
  const cases: readonly [string, readonly ManagedFieldsEntry[] | undefined, string | undefined][] = [
    ['is who owns the item with its UID', [entry('flux', owns('other', UID))], 'flux (Update) at 2026-11-22T13:00:00Z'],
    ['is told with the operation', [entry('flux', owns(UID), { operation: 'Apply' })], 'flux (Apply) at 2026-11-22T13:00:00Z'],
    [
      'is of several the one that wrote last, wherever it stands',
      [entry('a', owns(UID), at('01')), entry('b', owns(UID), at('03')), entry('c', owns(UID), at('02'))],
      'b (Update) at 2026-11-22T13:03:00Z',
    ],
    [
      'is rather who has a time',
      [{ manager: 'old', fieldsV1: owns(UID) }, entry('new', owns(UID))],
      'new (Update) at 2026-11-22T13:00:00Z',
    ],
    ['is told without a time where there is none', [{ manager: 'old', fieldsV1: owns(UID) }], 'old'],
    [
      'is told with fields of the item below it, as older servers book them',
      [entry('old', { 'f:metadata': { 'f:ownerReferences': { [`k:{"uid":"${UID}"}`]: { '.': {}, 'f:kind': {} } } } })],
      'old (Update) at 2026-11-22T13:00:00Z',
    ],
    ['is not who owns another reference', [entry('flux', owns('other'), at('09'))], undefined],
    ['is not who owns the list alone', [entry('flux', { 'f:metadata': { 'f:ownerReferences': {} } })], undefined],
    ['is not who owns such an item elsewhere', [entry('flux', { 'f:spec': owns(UID)['f:metadata'] ?? {} })], undefined],
    ['is nobody without a name', [entry('', owns(UID))], undefined],
    ['is not known where nothing is booked', [], undefined],
    ['is not known where the server keeps no book', undefined, undefined],
  ];
  for (const [title, managedFields, wanted] of cases)
    it(title, () => {
      const writer = referenceWriter(managedFields, UID);
      assert.equal(writer && writerText(writer), wanted);
    });
});
