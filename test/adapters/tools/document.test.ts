import assert from 'node:assert/strict';
import { chmod, link, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTools } from '../../../src/adapters/tools/tools.ts';
import type { Trace } from '../../../src/adapters/trace.ts';
import { type LocalWorkFolder, openWorkFolder } from '../../../src/adapters/work-folder.ts';
import { serverSideApply } from '../../../src/kernel/argv.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import { emptyFolder } from '../../support/folders.ts';

const TEXT = `kind: A\n${'# long\n'.repeat(50_000)}`;

describe('documents for kubectl', () => {
  const folder = emptyFolder('documents-');
  let work: LocalWorkFolder;
  let file = '';
  beforeEach(async () => {
    work = await openWorkFolder(join(folder, 'work'));
    file = await work.write('upgrade.yaml', TEXT);
    await writeFile(join(folder, 'kubectl'), `#!/bin/sh\necho "$@" > ${folder}/asked\ncat\n`);
    await chmod(join(folder, 'kubectl'), 0o755);
  });

  const tools = (trace?: Trace) =>
    openTools({
      trace,
      kubeconfigPath: '/k',
      written: work.written,
      env: { PATH: `${folder}:/usr/bin:/bin` },
      programs: { kubectl: 'kubectl', helm: 'helm', netsvcctl: 'calicoctl' },
      cliEnvironment: [],
    });
  const asked = () =>
    readFile(join(folder, 'asked'), 'utf8').then(
      (text) => text.trim(),
      () => undefined,
    );

  it('are its standard input, whole, and no path is named', async () => {
    const { stdout, exitCode } = await tools().run(serverSideApply(file));
    assert.equal(exitCode, 0);
    assert.equal(stdout, TEXT);
    assert.equal(await asked(), '--kubeconfig=/k apply --server-side --force-conflicts -f -');
  });

  it('are its standard input where it patches with a file', async () => {
    const { stdout } = await tools().run({ tool: 'kubectl', args: ['patch', 'configmap', 'x', '--patch-file', file] });
    assert.equal(stdout, TEXT);
    assert.equal(await asked(), '--kubeconfig=/k patch configmap x --patch-file /dev/stdin');
  });

  it('are named to a person who wants to see what was run', async () => {
    const lines: string[] = [];
    await tools({ level: 1, say: (line) => lines.push(line) }).run(serverSideApply(file));
    assert.match(lines[0] ?? '', new RegExp(`^kubectl --kubeconfig=/k apply --server-side --force-conflicts -f - < ${file}: exit 0 in `));
  });

  it('are given twice, the second one as it was written last', async () => {
    await tools().run(serverSideApply(file));
    await work.write('upgrade.yaml', 'kind: B\n');
    assert.equal((await tools().run(serverSideApply(file))).stdout, 'kind: B\n');
  });

  const attacks: Readonly<Record<string, [() => Promise<unknown>, RegExp]>> = {
    'is another one by now': [
      () => writeFile(file, 'kind: Attack\n'),
      /it was changed after it was written \(sha256 \w{12}…, was \w{12}…\)$/,
    ],
    'is a link to another one': [
      async () => {
        await writeFile(join(folder, 'other'), TEXT);
        await rm(file);
        await symlink(join(folder, 'other'), file);
      },
      /it is a symbolic link now$/,
    ],
    'can be written by others': [() => chmod(file, 0o666), /another user could write it$/],
    'is gone': [() => rm(file), /no such file/],
    'was written by somebody else': [() => rename(file, join(folder, 'work', 'wave.yaml')), /this command did not write it$/],
  };
  for (const [what, [attack, says]] of Object.entries(attacks))
    it(`are refused, and kubectl is not started, where the file ${what}`, async () => {
      await attack();
      const named = what.startsWith('was') ? join(folder, 'work', 'wave.yaml') : file;
      await assert.rejects(tools().run(serverSideApply(named)), (thrown: unknown) => {
        assert.ok(thrown instanceof Fault && says.test(thrown.message), String(thrown));
        assert.match(thrown.suggestions[0] ?? '', /^see who may write there: ls -ld /);
        return true;
      });
      assert.equal(await asked(), undefined);
    });

  it('stay what they were when the folder is exchanged while kubectl runs', async () => {
    await writeFile(
      join(folder, 'kubectl'),
      `#!/bin/sh\nmv ${folder}/work ${folder}/gone; mkdir ${folder}/work; echo 'kind: Attack' > ${file}; cat\n`,
    );
    assert.equal((await tools().run(serverSideApply(file))).stdout, TEXT);
  });

  it('are refused where a hard link was put in their place by others', async () => {
    await writeFile(join(folder, 'other'), 'kind: Attack\n');
    await rm(file);
    await link(join(folder, 'other'), file);
    await assert.rejects(tools().run(serverSideApply(file)), /it was changed after it was written/);
  });
});
