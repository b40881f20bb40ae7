import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import { objectTexts } from '../../src/manifest/object-text.ts';

const object = (kind: string, more: object, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'one', namespace: 'ops', ...metadata },
  ...more,
});

describe('an object as a diff shows it', () => {
  it('has keys in order and nothing that the server writes', () => {
    const live = object(
      'ConfigMap',
      { data: { b: '1', a: '2' }, status: { seen: true } },
      { resourceVersion: '7', uid: 'u', managedFields: [] },
    );
    assert.deepEqual(objectTexts({ before: live }), {
      before: 'apiVersion: v1\ndata:\n  a: "2"\n  b: "1"\nkind: ConfigMap\nmetadata:\n  name: one\n  namespace: ops\n',
    });
  });

  it('leaves the descriptions of a definition out, and no field of that name', () => {
    const spec = { description: 'text', properties: { description: { type: 'string', description: 'text' } } };
    const { after = '' } = objectTexts({ after: object('CustomResourceDefinition', { spec }) });
    assert.match(after, /spec:\n {2}properties:\n {4}description:\n {6}type: string\n$/);
    assert.doesNotMatch(after, /text/);
    assert.match(objectTexts({ after: object('ConfigMap', { data: { description: 'text' } }) }).after ?? '', /description: text/);
  });

  it('shows no value of a Secret, only which of them changes', () => {
    const secret = (data: object) => object('Secret', { data, type: 'Opaque' }, { annotations: { note: 'geheim' } });
    const { before = '', after = '' } = objectTexts({
      before: secret({ key: 'QQ==', same: 'Qg==' }),
      after: secret({ key: 'Qw==', same: 'Qg==' }),
    });
    assert.match(before, /data:\n {2}key: \(hidden\)\n {2}same: \(hidden\)\n/);
    assert.equal(after, before.replace('key: (hidden)', 'key: (hidden) (another value)'));
    assert.match(before, /annotations:\n {4}note: \(hidden\)\n/);
    for (const value of ['QQ==', 'Qg==', 'Qw==', 'geheim']) assert.ok(!`${before}${after}`.includes(value), value);
  });

  it('shows no credential of another object either, not even one that moves to another place of a list', () => {
    const pod = (...env: readonly object[]) => object('Pod', { spec: { env } });
    const password = (value: string) => ({ name: 'ETCD_PASSWORD', value });
    const { before = '', after = '' } = objectTexts({
      before: pod(password('first-one')),
      after: pod({ name: 'A', value: '1' }, password('first-one')),
    });
    assert.match(before, /name: ETCD_PASSWORD\n {6}value: \(hidden\)\n/);
    assert.match(after, /name: ETCD_PASSWORD\n {6}value: \(hidden\)\n/);
    const changed = objectTexts({ before: pod(password('first-one')), after: pod(password('other-one')) }).after ?? '';
    assert.match(changed, /value: \(hidden\) \(another value\)\n/);
    assert.doesNotMatch(changed, /other-one/);
  });

  it('takes no rule of a definition for a credential', () => {
    const rule = "self.defaultAction == 'Pass' : self.other";
    const { after = '' } = objectTexts({ after: object('CustomResourceDefinition', { spec: { rule } }) });
    assert.ok(after.includes(rule), after);
  });

  it('of an object that is not there yet all is new: nothing is another value', () => {
    const { before, after = '' } = objectTexts({ after: object('Secret', { stringData: { key: 'geheim' } }) });
    assert.equal(before, undefined);
    assert.match(after, /stringData:\n {2}key: \(hidden\)\n/);
  });
});
