import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { openArtifacts } from '../../../src/adapters/artifacts/artifacts.ts';
import { folderOf, within } from '../../../src/adapters/artifacts/checked.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { testFolder } from '../../support/folders.ts';
import { NO_SUMS } from '../../support/no-sums.ts';

const fault = (code: string, text: RegExp) => (thrown: unknown) =>
  thrown instanceof Fault && thrown.code === code && text.test(thrown.message);
const open = (source: string) => openArtifacts({ source, env: {}, lastKnownRelease: 'v3.32.2', sums: NO_SUMS });

describe('the place of artifacts', () => {
  for (const source of ['ftp://mirror/x', 'oci://registry/x', 'https://', 'file://other-machine/x'])
    it(`is not ${source}`, () => assert.throws(() => open(source), fault('usage', /is not a source of release files/)));

  it('may be a path of any form', () => {
    for (const path of ['.', './a', 'a b', '/a', 'C:\\releases', 'c://releases']) assert.equal(folderOf(path), path);
    assert.equal(folderOf('file:///a%20b'), '/a b');
  });

  const names: readonly [string, string, string, boolean][] = [
    ['a file below', '/a', 'm/x', true],
    ['a name that begins with two dots', '/a', '../..x', true],
    ['a file above', '/a', '../../x', false],
    ['a neighbour whose name begins alike', '/a', '../../ab/x', false],
    ['the folder itself', '/a', '..', false],
    ['a file below the current folder', '.', 'm/x', true],
    ['a file above the current folder', '.', '../../x', false],
  ];
  for (const [title, folder, path, inside] of names) {
    it(`${inside ? 'takes' : 'refuses'} ${title}`, () => {
      const look = () => within(folder, 'v1.0.0', path);
      if (inside) assert.equal(look(), join(folder, 'v1.0.0', path));
      else assert.throws(look, fault('usage', /leaves/));
    });
  }
});

describe('a folder of artifacts', () => {
  const folder = testFolder('place of artifacts-');
  before(async () => {
    await mkdir(join(folder, 'v3.32.2'));
    await writeFile(join(folder, 'v3.32.2', 'a b.yaml'), 'kind: A');
    await writeFile(join(folder, 'v3.32.2', 'empty.yaml'), '');
    await writeFile(join(folder, 'v3.32.2', 'login.yaml'), '\uFEFF\n<HTML>');
    await writeFile(join(folder, 'v3.33.0'), 'a file, not a release');
  });

  it('may be named from the current folder', async () => {
    const source = relative(process.cwd(), folder);
    assert.equal((await open(source).fetch('v3.32.2', 'a b.yaml')).file, 'a b.yaml');
  });

  it('lists folders only', async () => assert.deepEqual(await open(folder).releases(), ['v3.32.2']));

  it('gives no file that a failed download left behind', async () => {
    await assert.rejects(open(folder).fetch('v3.32.2', 'empty.yaml'), fault('failed', /empty\.yaml is empty/));
    await assert.rejects(open(folder).fetch('v3.32.2', 'login.yaml'), fault('failed', /login\.yaml is a web page/));
  });

  it('gives no file over the limit', async () => {
    assert.equal((await open(folder).fetch('v3.32.2', 'a b.yaml', 7)).bytes.length, 7);
    await assert.rejects(open(folder).fetch('v3.32.2', 'a b.yaml', 6), fault('failed', /7 bytes, more than the limit of 6/));
  });
});
