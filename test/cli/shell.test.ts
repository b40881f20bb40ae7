import assert from 'node:assert/strict';
import { captureOutput } from '@oclif/test';
import { runShell } from '../../src/cli/shell.ts';

const NAME = 'kubectl netsvc-upgrade';

/** The command in this process, as a person would call it; stdout and stderr as they come out. */
async function call(...argv: readonly string[]) {
  const { stdout, stderr, result } = await captureOutput<number>(() => runShell(argv, NAME));
  return { stdout, stderr, exitCode: result };
}

describe('a command in the process', () => {
  it('prints data on stdout and nothing on stderr', async () => {
    const { stdout, stderr, exitCode } = await call('explain', 'NS-606');
    assert.equal(exitCode, 0);
    assert.match(stdout, /NS-606/);
    assert.equal(stderr, '');
  });

  it('prints errors on stderr only: the fact, then the next step', async () => {
    const { stdout, stderr, exitCode } = await call('explain', 'NS-999');
    assert.equal(exitCode, 64);
    assert.equal(stdout, '');
    assert.match(stderr, /^error: .*NS-999/);
    assert.ok(stderr.trim().split('\n').length > 1, stderr);
  });

  it('suggests the flag that was meant', async () => {
    const { stderr, exitCode } = await call('preflight', '--contxt=x');
    assert.equal(exitCode, 64);
    assert.match(stderr, /--context/);
  });

  it('keeps arguments with spaces whole', async () => {
    const { stderr, exitCode } = await call('preflight', '--kubeconfig', '/no such/file');
    assert.notEqual(exitCode, 0);
    assert.match(stderr, /\/no such\/file/);
  });
});
