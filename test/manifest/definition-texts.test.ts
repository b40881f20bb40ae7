import assert from 'node:assert/strict';
import { withoutTexts } from '../../src/manifest/definition-differences.ts';

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
