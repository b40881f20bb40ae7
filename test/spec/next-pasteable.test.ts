import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const src = join(import.meta.dirname, '..', '..', 'src');

describe('the command after Next:', () => {
  it('has no placeholder, which fails where it is pasted', () => {
    const found = globSync('**/*.ts', { cwd: src }).flatMap((file) =>
      [...readFileSync(join(src, file), 'utf8').matchAll(/\bnext:\s*(?:[^;`]{0,120}\?\s*)?command`([^`]*)`/g)]
        .filter(([, line = '']) => / (?:\S*[=,])?(?:FILE|DIR|URL|NAME|PATH)(?![:\w])/.test(line))
        .map(([, line]) => `${file}: ${line}`),
    );
    assert.deepEqual(found, []);
  });
});
