import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependencySizes, SIZES_PAGE } from '../../build/dependency-sizes.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the production dependencies', () => {
  it('are counted and weighed in the decisions', () => {
    assert.ok(existsSync(join(root, 'dist', 'packages.json')), 'run: npm run build');
    assert.equal(readFileSync(join(root, SIZES_PAGE), 'utf8'), dependencySizes(root), 'run: node build/dependency-sizes.ts');
  });

  it('run nothing when they are installed, and neither does the program', () => {
    assert.match(dependencySizes(root), /run something when they are installed: 0\./);
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Readonly<Record<string, string>> };
    assert.deepEqual(
      Object.keys(scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name)),
      [],
    );
  });

  it('are each explained', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
    const page = readFileSync(join(root, 'docs/internals/decisions/dependencies.md'), 'utf8');
    assert.deepEqual(
      Object.keys(dependencies).filter((name) => !page.includes(`| \`${name}\``)),
      [],
    );
  });
});
