import assert from 'node:assert/strict';
import { parseTemplate } from '../../src/manifest/injector-template.ts';

describe('a template of the injector', () => {
  it('is refused with file and line if a key is there twice or it is no YAML', () => {
    assert.throws(() => parseTemplate('data:\n  a: x\n  a: y\n', 'f.yaml'), { code: 'usage', message: /^f\.yaml:3: .*"a" is there twice/ });
    assert.throws(() => parseTemplate('data:\n- [', 'f.yaml'), { code: 'usage', message: /^f\.yaml:2: not valid YAML/ });
  });
});
