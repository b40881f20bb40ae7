import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { documents } from '../../build/pack-contents.ts';

const root = join(import.meta.dirname, '..', '..');
const packed = documents(root);
const paths = new Set(packed.map(({ path }) => path));
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
  // Notes for who changes the program may lead to what is only in the sources.
  .map((text) => text.replace(/\/\*\*.*?\*\/|^ *\/\/.*$/gms, ''));

/** For people who change the program, not for those who run it. */
const OF_SOURCES = new Set(['CONTRIBUTING.md']);

describe('an archive', () => {
  it('holds every document that the program names', () => {
    const named = new Set(sources.flatMap((text) => text.match(/\bdocs\/[\w/-]+(?:\.\w+)+/g) ?? []));
    assert.ok(named.has('docs/reference/journal.md') && named.has('docs/reference/profiles.md'));
    assert.deepEqual(
      [...named].filter((path) => !paths.has(path)),
      [],
    );
  });

  it('holds whatever its documents lead to', () => {
    const pages = packed.filter(({ path }) => path.endsWith('.md'));
    const links = pages.flatMap(({ path, content }) =>
      [...String(content).matchAll(/\]\((?!\w+:)([^)#]+)/g)].map(([, to = '']) => normalize(join(path, '..', to))),
    );
    assert.ok(links.includes('docs/reference/permissions.md'));
    assert.deepEqual(
      links.filter((path) => !paths.has(path.replace(/\/$/, '')) && !OF_SOURCES.has(path)),
      [],
    );
  });

  it('holds no more of them than a hundredth of itself', () => {
    const size = packed.reduce((total, { content }) => total + content.length, 0);
    assert.ok(size < 1_200_000, `${size} bytes`);
    for (const { path, content } of packed) assert.ok(content.length < 400_000, `${path}: ${content.length} bytes`);
  });
});

describe('the npm package', () => {
  it('holds the same documents', function () {
    this.timeout(30_000);
    const told = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' });
    const files = new Set((JSON.parse(told) as readonly [{ files: readonly { path: string }[] }])[0].files.map(({ path }) => path));
    assert.deepEqual(
      [...paths].filter((path) => !files.has(path)),
      [],
    );
  });
});
