import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { ownerOfKubeconfig } from '../../../src/adapters/tools/orphans.ts';
import { privateKubeconfigFile } from '../../../src/adapters/tools/private-kubeconfig.ts';
import { openTools } from '../../../src/adapters/tools/tools.ts';
import { openWorkFolder } from '../../../src/adapters/work-folder.ts';
import type { Tool } from '../../../src/kernel/argv.ts';
import { emptyFolder } from '../../support/folders.ts';

describe('the private kubeconfig on disk', () => {
  const folder = emptyFolder('netsvc-private-');

  it('is not there as long as no program needs it', async () => {
    const file = privateKubeconfigFile(await openWorkFolder(folder), 'secret');
    assert.equal(ownerOfKubeconfig(basename(file.path)), process.pid);
    await file.remove();
    assert.deepEqual(readdirSync(folder), []);
  });

  it('is there for the first program and all that follow, its owner’s alone, and gone at the end', async () => {
    const file = privateKubeconfigFile(await openWorkFolder(folder), 'secret');
    const programs = { kubectl: 'cat', helm: 'cat', netsvcctl: 'cat' };
    const tools = openTools({ kubeconfigPath: file.path, prepare: file.write, env: process.env, programs, cliEnvironment: [] });
    const run = { tool: 'netsvcctl', args: [file.path] } as const;
    for (const { stdout } of await Promise.all([tools.run(run), tools.run(run)])) assert.equal(stdout, 'secret');
    assert.equal(statSync(file.path).mode & 0o777, 0o600);
    assert.equal(readFileSync(file.path, 'utf8'), 'secret');
    await file.remove();
    assert.deepEqual(readdirSync(folder), []);
  });

  it('has a configuration of the service’s CLI beside it for calls of that alone, which goes with it', async () => {
    const file = privateKubeconfigFile(await openWorkFolder(folder), 'secret', (path) => `kubeconfig: ${path}\n`);
    await file.write();
    assert.deepEqual(readdirSync(folder), [basename(file.path)]);
    await file.writeForCli();
    assert.equal(readFileSync(file.cliConfigPath ?? '', 'utf8'), `kubeconfig: ${file.path}\n`);
    assert.equal(statSync(file.cliConfigPath ?? '').mode & 0o777, 0o600);
    assert.equal(ownerOfKubeconfig(basename(file.cliConfigPath ?? '')), process.pid);
    await file.remove();
    assert.deepEqual(readdirSync(folder), []);
  });

  it('is given to no program once something else has written there', async () => {
    const file = privateKubeconfigFile(await openWorkFolder(folder), 'secret', (path) => `kubeconfig: ${path}\n`);
    const programs = { kubectl: 'cat', helm: 'cat', netsvcctl: 'cat' };
    const prepare = (tool: Tool) => (tool === 'netsvcctl' ? file.writeForCli() : file.write());
    const tools = openTools({ kubeconfigPath: file.path, prepare, env: process.env, programs, cliEnvironment: [] });
    await prepare('netsvcctl');
    for (const [path, tool] of [
      [file.cliConfigPath ?? '', 'netsvcctl'],
      [file.path, 'kubectl'],
      [file.path, 'helm'],
    ] as const) {
      await writeFile(path, 'server: https://elsewhere');
      await assert.rejects(tools.run({ tool, args: [] }), { code: 'failed', message: /is not given to a program: it was changed/ });
    }
    await file.remove();
  });

  it('may be changed by kubectl itself where that renews the credential in it', async () => {
    const file = privateKubeconfigFile(await openWorkFolder(folder), 'secret', undefined, 'renewed by kubectl');
    await file.write();
    await writeFile(file.path, 'renewed');
    await file.write();
    assert.equal(readFileSync(file.path, 'utf8'), 'renewed');
    await file.remove();
  });

  it('does not come back for a program that starts after the end', async () => {
    const file = privateKubeconfigFile(await openWorkFolder(folder), 'secret');
    await file.remove();
    await assert.rejects(file.write(), /this command has ended/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('goes with the folder that stood in for the real one, written or not', async () => {
    const work = { ...(await openWorkFolder(folder)), standsInFor: '/elsewhere' };
    await privateKubeconfigFile(work, 'secret').remove();
    assert.equal(existsSync(folder), false);
  });
});
