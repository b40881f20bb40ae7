import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const FOLDERS = '{src,test,bench,build,bin,docs,.ci,.github}/**/*.{ts,cjs,js,sh,md,yml,yaml}';
const FILES = [...globSync(FOLDERS, { cwd: root }), '.ci/run', 'package.json', ...globSync('*.{md,cjs}', { cwd: root })];

/** What leads out of the repository: steps up from a file's own folder, from a folder named `root`, or in a relative path. */
function outside(file: string, text: string): readonly string[] {
  const folder = dirname(file);
  const fromHere = [...text.matchAll(/(?:import\.meta\.dirname|__dirname)((?:,\s*'\.\.')+)/g)].map(([whole, ups = '']) => ({
    whole,
    path: [folder, ...(ups.match(/\.\./g) ?? [])].join('/'),
  }));
  const fromRoot = [...text.matchAll(/(?<!\.)\b(?:root|ROOT|repository|REPOSITORY),\s*['"`]\.\.[/'"`]/g)].map(([whole]) => ({
    whole,
    path: '..',
  }));
  const relative = [...text.matchAll(/(?<=^|[\s'"`(=])(?:\.\.\/)+[\w.*-]*/gm)].map(([whole]) => ({ whole, path: join(folder, whole) }));
  return [...fromHere, ...fromRoot, ...relative].filter(({ path }) => normalize(path).startsWith('..')).map(({ whole }) => whole);
}

describe('the repository', () => {
  it('names nothing outside itself: a clone that lies alone is whole', () => {
    assert.ok(FILES.length > 500, String(FILES.length));
    const found = FILES.filter((file) => file !== 'test/build/nothing-outside.test.ts').flatMap((file) =>
      outside(file, readFileSync(join(root, file), 'utf8')).map((one) => `${file}: ${one}`),
    );
    assert.deepEqual(found, []);
  });

  for (const [title, file, text, is] of [
    ['steps up from a file', 'test/a/b.ts', "join(import.meta.dirname, '..', '..', '..', 'data')", true],
    ['the root, from a file', 'test/a/b.ts', "join(import.meta.dirname, '..', '..', 'data')", false],
    ['a step up from the root', 'test/a/b.ts', "join(root, '..', 'data')", true],
    ['a relative path', 'docs/a.md', 'see (`../../data`)', true],
    ['a relative path to a file of its own', 'test/a/b.ts', "import '../../src/a.ts'", false],
    ['an address', 'test/b.ts', "new URL('../../data/', import.meta.url)", true],
  ] as const)
    it(`${is ? 'would be told of' : 'may have'} ${title}`, () => assert.equal(outside(file, text).length > 0, is));
});
