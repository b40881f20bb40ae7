import assert from 'node:assert/strict';
import { manifestOf } from '../../src/manifest/manifest.ts';

const artifact = (text: string) => ({ url: 'u', file: 'f', bytes: new TextEncoder().encode(text), sha256: '' });

describe('the manifest in an artifact', () => {
  it('is read once for each artifact', () => {
    const one = artifact('apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n');
    assert.equal(manifestOf(one), manifestOf(one));
    assert.equal(manifestOf(one).documents[0]?.object.metadata.name, 'a');
  });

  it('is never that of another one', () => {
    const [a, b] = ['a', 'b'].map((name) => manifestOf(artifact(`apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`)));
    assert.notDeepEqual(a?.documents, b?.documents);
  });
});
