import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { viewKubeconfig } from '../../../src/adapters/kubeconfig/view.ts';
import { testFolder } from '../../support/folders.ts';

/** A kubectl that notes what it was started with, and prints what stands in the file that it is given, else in the first one. */
const STAND_IN = `#!/bin/sh
echo "$KUBERC $*" >> "$(dirname "$0")/started"
for word; do case $word in --kubeconfig=*) file=\${word#--kubeconfig=};; esac; done
cat "\${file:-\${KUBECONFIG%%:*}}"
`;

describe('a kubeconfig that kubectl reads', () => {
  const folder = testFolder('view-');
  const kubectl = join(folder, 'kubectl');
  const files = ['a', 'b', 'c'].map((name) => join(folder, name, 'config'));
  const view = (listed: readonly string[], flags = {}) =>
    viewKubeconfig(flags, { PATH: process.env.PATH, KUBERC: join(folder, 'kuberc'), KUBECONFIG: listed.join(delimiter) }, kubectl);
  const started = async () => (await readFile(join(folder, 'started'), 'utf8').catch(() => '')).split('\n').slice(0, -1);

  beforeEach(async () => {
    await writeFile(kubectl, STAND_IN, { mode: 0o755 });
    await writeFile(join(folder, 'started'), '');
    for (const [index, file] of files.entries()) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, JSON.stringify({ users: [{ name: `u${index}` }, { name: 'all' }], clusters: [] }));
    }
  });

  it('is read by one start, without the defaults of the user: these may name another file for this very command', async () => {
    const { originFolder } = await view(files.slice(0, 1));
    assert.equal(await originFolder('users', 'u0'), join(folder, 'a'));
    assert.deepEqual(await started(), ['off config view --raw -o json']);
  });

  it('needs no kubectl where there is no file', async () => {
    assert.deepEqual((await view([join(folder, 'missing')])).document, {});
    assert.deepEqual(await started(), []);
  });

  it('has the folder of each entry, and asks each of several files once', async () => {
    const { originFolder } = await view(files);
    assert.equal(await originFolder('users', 'u1'), join(folder, 'b'));
    assert.equal(await originFolder('users', 'all'), join(folder, 'a'));
    assert.equal(await originFolder('users', 'u2'), join(folder, 'c'));
    assert.deepEqual(
      (await started()).slice(1),
      files.map((file) => `off config view --raw -o json --kubeconfig=${file}`),
    );
  });
});
