import assert from 'node:assert/strict';
import type { ManagedFieldsEntry } from '../../src/kernel/object.ts';
import { ownersOf } from '../../src/kube/field-paths.ts';
import { keyOfItem, mergeKeys } from '../../src/kube/list-keys.ts';
import { changedFields, fieldAt, maskChanges, withoutTexts } from '../../src/manifest/definition-differences.ts';
import { comparable } from '../../src/manifest/prepare.ts';

const pod = (containers: unknown) => ({ spec: { template: { spec: { containers } } } });
const at = 'spec.template.spec.containers[calico-node]';

describe('comparing fields', () => {
  const cases: readonly [string, unknown, unknown, readonly unknown[]][] = [
    [
      'a changed value deep in keyed lists',
      pod([{ name: 'calico-node', env: [{ name: 'IP', value: 'auto' }] }]),
      pod([{ name: 'calico-node', env: [{ name: 'IP', value: 'none' }] }]),
      [{ path: `${at}.env[IP].value`, before: 'auto', after: 'none' }],
    ],
    [
      'an added item without repeating its key',
      pod([{ name: 'calico-node' }]),
      pod([{ name: 'calico-node', env: [{ name: 'IP', value: 'none' }] }]),
      [{ path: `${at}.env[IP].value`, after: 'none' }],
    ],
    ['an item that is only its key', { secrets: [] }, { secrets: [{ name: 'a' }] }, [{ path: 'secrets[a].name', after: 'a' }]],
    ['nothing in another order of items', { env: [{ name: 'a' }, { name: 'b' }] }, { env: [{ name: 'b' }, { name: 'a' }] }, []],
    ['nothing between null and absent', { a: null }, {}, []],
    ['lists without keys as one value', { args: ['a', 'b'] }, { args: ['b'] }, [{ path: 'args', before: ['a', 'b'], after: ['b'] }]],
    [
      'repeated keys as one value',
      { env: [{ name: 'a' }, { name: 'a' }] },
      { env: [{ name: 'a' }] },
      [{ path: 'env', before: [{ name: 'a' }, { name: 'a' }], after: [{ name: 'a' }] }],
    ],
    ['the last member of a map', { data: { b: '2' } }, { data: {} }, [{ path: 'data.b', before: '2' }]],
    ['an empty list that becomes an empty map', { a: [] }, { a: {} }, [{ path: 'a', before: [], after: {} }]],
    ['an empty map that is new', {}, { emptyDir: {} }, [{ path: 'emptyDir', after: {} }]],
    ['a map that becomes a value', { a: { b: 1 } }, { a: 'x' }, [{ path: 'a', before: { b: 1 }, after: 'x' }]],
    [
      'map keys that are no plain words in brackets',
      { labels: { 'app.io/a]b': 'x' } },
      { labels: {} },
      [{ path: 'labels[app.io/a\\]b]', before: 'x' }],
    ],
  ];
  for (const [title, before, after, changes] of cases) {
    it(`shows ${title}`, () => assert.deepEqual(changedFields(before, after), changes));
  }

  it('finds each leaf again by its path', () => {
    const object = {
      metadata: { annotations: { 'a.b/c': 'd', 'e]': 'f' } },
      spec: { ports: [{ port: 443 }, { port: 53, protocol: 'UDP' }], volumeMounts: [{ name: 'x', mountPath: '/lib' }], args: [], n: {} },
    };
    const found = new Map(changedFields(undefined, object).map(({ path, after }) => [path, after]));
    assert.deepEqual(
      [...found.keys()],
      [
        'metadata.annotations[a.b/c]',
        'metadata.annotations[e\\]]',
        'spec.ports[443/TCP].port',
        'spec.ports[53/UDP].port',
        'spec.ports[53/UDP].protocol',
        'spec.volumeMounts[/lib].name',
        'spec.args',
        'spec.n',
      ],
    );
    for (const [path, value] of found) assert.deepEqual(fieldAt(object, path), value, path);
    assert.equal(fieldAt(object, 'spec.ports[80/TCP].port'), undefined);
    assert.throws(() => fieldAt(object, 'spec..a'), RangeError);
  });

  it('knows the keys of lists', () => {
    assert.equal(keyOfItem('volumeMounts', { name: 'a', mountPath: '/b' }), '/b');
    assert.equal(keyOfItem('ports', { containerPort: 80 }), '80/TCP');
    assert.equal(keyOfItem('tolerations', { key: 'a' }), undefined);
    assert.deepEqual(mergeKeys('ports', { port: 1 }), ['port', 'protocol']);
    assert.deepEqual([mergeKeys('claims'), mergeKeys('matchConditions')], [['name'], ['name']]);
    assert.equal(mergeKeys('finalizers'), 'set');
    assert.equal(mergeKeys('constructor'), 'atomic');
  });

  it('tells who owns a field', () => {
    const managedFields: readonly ManagedFieldsEntry[] = [
      { manager: 'a', operation: 'Apply', fieldsV1: { 'f:spec': { 'f:env': { 'k:{"name":"IP"}': { '.': {}, 'f:value': {} } } } } },
      {
        manager: 'b',
        operation: 'Update',
        fieldsV1: { 'f:spec': { 'f:subjects': {}, 'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': {} } } },
      },
    ];
    const owners = (path: string) => ownersOf(managedFields, path).map(({ manager, operation }) => `${operation} ${manager}`);
    assert.deepEqual(owners('spec.env[IP].value'), ['Apply a']);
    assert.deepEqual(owners('spec.env[IP]'), ['Apply a']);
    assert.deepEqual(owners('spec.env'), []);
    assert.deepEqual(owners('spec.ports[80/TCP].name'), ['Update b']);
    assert.deepEqual(owners('spec.subjects[User/x].name'), ['Update b']);
  });
});

describe('objects for comparing and for showing', () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', uid: 'u', annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"k":"cHc="}}' } },
    data: { k: 'cHc=' },
    status: {},
  };

  it('leave out what the server writes', () => {
    const { status: _, ...rest } = secret;
    assert.deepEqual(comparable(secret), { ...rest, metadata: { name: 's' } });
  });

  it('never show a value of a Secret', () => {
    const masked = JSON.stringify(maskChanges(secret, changedFields({}, comparable(secret))));
    assert.ok(!masked.includes('cHc='));
    assert.match(masked, /"path":"data.k","after":"\(hidden\)"/);
  });
});

describe('a definition without its descriptions', () => {
  const schema = { type: 'object', description: 'a text', properties: { description: { type: 'string', description: 'another' } } };
  const object = (kind: string) => ({ apiVersion: 'v1', kind, metadata: { name: 'a' }, spec: { versions: [{ name: 'v1', schema }] } });

  it('keeps fields that are called so', () => {
    assert.deepEqual(withoutTexts(object('CustomResourceDefinition')).spec.versions[0]?.schema, {
      type: 'object',
      properties: { description: { type: 'string' } },
    });
  });

  it('leaves every other object as it is', () => {
    assert.deepEqual(withoutTexts(object('ConfigMap')), object('ConfigMap'));
  });
});
