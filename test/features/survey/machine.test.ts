import assert from 'node:assert/strict';
import { readClis } from '../../../src/features/service-cli/cli-list.ts';
import { readClient } from '../../../src/features/survey/machine.ts';
import type { ToolResult, Tools } from '../../../src/kernel/argv.ts';
import { calico } from '../../../src/profiles/calico.ts';

/** Programs by file; each prints its text. */
function toolsOf(files: Readonly<Record<string, readonly string[]>>, output: Readonly<Record<string, string>>): Tools {
  const answer = (stdout: string | undefined): ToolResult => ({
    exitCode: stdout === undefined ? 1 : 0,
    stdout: stdout ?? '',
    stderr: '',
    durationMs: 1,
  });
  return {
    which: async (program) => files[program] ?? [],
    run: async ({ tool }, { program } = {}) => answer(output[program ?? tool]),
    programOf: (tool) => tool,
    platform: () => ({ os: 'linux', arch: 'amd64' }),
    ownerOf: async () => undefined,
  };
}

describe('the survey of this machine', () => {
  it('asks kubectl for its version', async () => {
    const tools = toolsOf({ kubectl: ['/usr/bin/kubectl', '/opt/kubectl'] }, { kubectl: '{"clientVersion":{"gitVersion": "v1.36.1"}}' });
    assert.deepEqual(await readClient(tools), { path: '/usr/bin/kubectl', gitVersion: 'v1.36.1', platform: 'linux/amd64' });
  });

  it('finds no kubectl, or one that does not tell', async () => {
    assert.deepEqual(await readClient(toolsOf({}, {})), { platform: 'linux/amd64' });
    assert.deepEqual(await readClient(toolsOf({ kubectl: ['/k'] }, {})), { path: '/k', platform: 'linux/amd64' });
  });

  it('asks every CLI of the service for its release, each file once', async () => {
    const tools = toolsOf(
      { calicoctl: ['/a/calicoctl', '/b/calicoctl'], 'kubectl-calico': ['/a/calicoctl'] },
      { '/a/calicoctl': 'Client Version:    v3.27.5\nGit commit:        abc\n' },
    );
    assert.deepEqual(await readClis(tools, calico), [{ file: '/a/calicoctl', release: 'v3.27.5' }, { file: '/b/calicoctl' }]);
  });
});
