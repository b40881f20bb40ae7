import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertGitFolder, writeGitFiles } from '../../../src/cli/plan/for-git.ts';
import { emptyFolder } from '../../support/folders.ts';

const FILES = [
  { path: '_cluster/namespace-a.yaml', text: 'kind: Namespace\n' },
  { path: 'a/configmap-b.yaml', text: 'kind: ConfigMap\n' },
];

describe('the folder of plan --for-git', () => {
  const around = emptyFolder('for-git-');
  let folder = '';
  beforeEach(() => {
    folder = join(around, 'git');
  });
  const refused = (named: string) =>
    assert.rejects(writeGitFiles(folder, FILES), (thrown: { code?: string; message?: string }) => {
      assert.equal(thrown.code, 'usage');
      assert.ok(thrown.message?.includes(named), thrown.message);
      return true;
    });

  it('is made, with the files and nothing else', async () => {
    await writeGitFiles(folder, FILES);
    assert.deepEqual(readdirSync(folder, { recursive: true }).map(String).toSorted(), [
      '_cluster',
      join('_cluster', 'namespace-a.yaml'),
      'a',
      join('a', 'configmap-b.yaml'),
    ]);
    for (const { path, text } of FILES) assert.equal(readFileSync(join(folder, path), 'utf8'), text);
  });

  it('may hold some of these very files already, as after an interruption', async () => {
    mkdirSync(join(folder, 'a'), { recursive: true });
    writeFileSync(join(folder, 'a', 'configmap-b.yaml'), 'kind: ConfigMap\n');
    await writeGitFiles(folder, FILES);
    await writeGitFiles(folder, FILES);
    assert.ok(existsSync(join(folder, '_cluster', 'namespace-a.yaml')));
  });

  it('is refused with another content of a file, and nothing is written', async () => {
    mkdirSync(join(folder, 'a'), { recursive: true });
    writeFileSync(join(folder, 'a', 'configmap-b.yaml'), 'mine');
    await refused('a/configmap-b.yaml');
    assert.equal(readFileSync(join(folder, 'a', 'configmap-b.yaml'), 'utf8'), 'mine');
    assert.equal(existsSync(join(folder, '_cluster')), false);
  });

  it('is refused with a file of somebody else', async () => {
    mkdirSync(join(folder, 'old'), { recursive: true });
    writeFileSync(join(folder, 'old', 'x.yaml'), '');
    await refused('old/x.yaml');
  });

  it('follows no link out of it', async () => {
    mkdirSync(folder);
    const elsewhere = join(around, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(folder, 'a'));
    await refused('has a,');
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  it('is refused before anything is read where it is a file, or has no place', async () => {
    writeFileSync(folder, '');
    await assert.rejects(assertGitFolder(folder), { code: 'usage' });
    await assert.rejects(assertGitFolder(join(around, 'no', 'git')), { code: 'usage' });
    await assertGitFolder(join(around, 'new'));
    await assertGitFolder(undefined);
  });
});
