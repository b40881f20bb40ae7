import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BundledPackage, bundledPackages, notices, packageFolder } from '../../build/bundled-packages.ts';

const root = join(import.meta.dirname, '..', '..');
const dist = join(root, 'dist');

describe('the packages in the program', () => {
  const folders: readonly [string, string | undefined][] = [
    ['node_modules/yaml/dist/index.js', 'node_modules/yaml'],
    ['node_modules/@oclif/core/lib/run.js', 'node_modules/@oclif/core'],
    ['node_modules/a/node_modules/@b/c/d.js', 'node_modules/a/node_modules/@b/c'],
    ['src/cli/main.ts', undefined],
  ];
  for (const [file, folder] of folders) it(`finds ${folder ?? 'no package'} for ${file}`, () => assert.equal(packageFolder(file), folder));

  it('are listed once, with license and sum', () => {
    const [one, ...more] = bundledPackages(root, ['node_modules/yaml/dist/index.js', 'node_modules/yaml/dist/visit.js', 'src/cli/main.ts']);
    assert.deepEqual([one?.name, one?.license, more], ['yaml', 'ISC', []]);
    assert.match(one?.integrity ?? '', /^sha512-/);
  });

  it('are all named in the notices, with the text of their license', () => {
    const packages = JSON.parse(readFileSync(join(dist, 'packages.json'), 'utf8')) as readonly BundledPackage[];
    const text = readFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    assert.equal(text, notices(root, packages));
    for (const { name, version, license } of packages) assert.ok(text.includes(`\n${name} ${version}\nLicense: ${license}\n`), name);
    assert.ok(packages.some(({ name }) => name === '@kubernetes/client-node'));
  });

  it('bring no folder of the machine that built it into the code', () => {
    const files = readdirSync(join(dist, 'cli')).filter((file) => file.endsWith('.js'));
    const strange = files.filter((file) => {
      const code = readFileSync(join(dist, 'cli', file), 'utf8');
      return code.includes('../node_modules/') || code.includes(root);
    });
    assert.deepEqual(strange, []);
  });
});
