import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { ComposeRequest } from '../../src/cli/seams.ts';
import { testFolder } from '../support/folders.ts';
import { compositionOf, sandboxCommand } from '../support/sandbox-command.ts';
import { releasesWithServer, served, upgradeSandbox } from '../support/upgrade-sandbox.ts';

describe('a saved plan', function () {
  this.timeout(60_000);
  const folder = testFolder('saved-plan-');

  it('is true a minute later and with a folder for the backup, as in a pipeline, where owner references are removed and put back', async () => {
    const sandbox = await upgradeSandbox(await releasesWithServer(folder));
    const file = join(folder, 'upgrade.plan');
    const command = () => {
      const bench = sandboxCommand(sandbox.scenario);
      const compose = async (request: ComposeRequest) => ({
        ...compositionOf(sandbox.scenario, request, served),
        cluster: sandbox.cluster,
      });
      Object.assign(bench.seams, { compose });
      return bench;
    };
    assert.equal(await command().run('plan', '--out', file), 0);
    await sandbox.scenario.clock.sleep(60_000);
    const later = command();
    assert.equal(await later.run('run', '--yes', '--plan-file', file, '--backup-dir', 'backup'), 0, later.out() + later.err());
    assert.match(later.out(), /\(ownerrefs-strip, apply, ownerrefs-restore\), cli, ownerrefs-forget/);
    assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted]);
  });
});
