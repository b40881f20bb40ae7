import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOXED, withBox } from '../../build/prerequisites.ts';
import { chain } from '../../src/features/chain.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (page: string) => readFileSync(join(root, page), 'utf8');

describe('pages that say what the program does', () => {
  for (const page of BOXED)
    it(`${page} asks for what the profile and the checks ask for`, () => {
      assert.equal(read(page), withBox(page, read(page)), 'run: node build/prerequisites.ts');
    });

  it('concepts has every stage of the chain, in its order', () => {
    const [table = ''] = read('docs/use/concepts.md').split('\n## ');
    const stages = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, id]) => id);
    assert.deepEqual(
      stages,
      chain.map(({ id }) => id),
    );
  });
});
