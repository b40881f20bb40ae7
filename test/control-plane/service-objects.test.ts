import assert from 'node:assert/strict';
import type { ApiObject } from './api.ts';
import { NEW_SERVER, OLD_SERVER, servedName, servedObject, servedUid } from './service-objects.ts';

const GROUP = 'projectcalico.org';
const UID = '30316465-6365-4463-ad63-3564622d3638';
const CONVERTED = '0c8c26a6-c6a6-44c6-adc6-ac2646b46c1c';

const stored = (name: string, noted?: object, spec: object = {}): ApiObject => ({
  kind: 'GlobalNetworkPolicy',
  apiVersion: `crd.${GROUP}/v1`,
  metadata: {
    ...{ name, uid: UID, resourceVersion: '1', labels: { own: 'x' } },
    annotations: { note: 'y', ...(noted ? { [`${GROUP}/metadata`]: JSON.stringify(noted) } : {}) },
  },
  spec,
});

describe('the played API server of the service', () => {
  it('converts a UID as the newer releases do, and back', () => {
    assert.equal(servedUid(UID), CONVERTED);
    assert.equal(servedUid(CONVERTED), UID);
  });

  const names: readonly [string, ApiObject, string][] = [
    ['without its prefix when no name is noted', stored('default.a', {}), 'a'],
    ['by the name that is noted', stored('default.a', { name: 'default.a' }), 'default.a'],
    ['as it is stored when nothing is noted', stored('default.a'), 'default.a'],
    ['as it is stored in another tier', stored('sec.a', {}, { tier: 'sec' }), 'sec.a'],
    ['with its own name after the migration', stored('a', { name: 'a' }, { tier: 'default' }), 'a'],
  ];
  for (const [title, object, name] of names)
    it(`calls a policy ${title}`, () => assert.equal(servedName(object, GROUP, 'globalnetworkpolicies'), name));

  it('leaves the names of everything else', () => {
    assert.equal(servedName(stored('default.a', {}), GROUP, 'globalnetworksets'), 'default.a');
  });

  it('serves the stored UID by the old rule and the converted one by the new, hides the note and shows its labels', () => {
    const object = stored('default.a', { labels: { theirs: 'z' } });
    const old = servedObject(object, GROUP, 'globalnetworkpolicies', OLD_SERVER);
    assert.equal(old.metadata.uid, UID);
    assert.equal(servedObject(object, GROUP, 'globalnetworkpolicies', NEW_SERVER).metadata.uid, CONVERTED);
    assert.deepEqual(old.metadata.labels, { own: 'x', theirs: 'z' });
    assert.deepEqual(old.metadata.annotations, { note: 'y' });
    assert.equal(old.apiVersion, `${GROUP}/v3`);
  });
});
