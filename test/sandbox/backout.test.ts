import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { PlanDocument } from '../../src/cli/documents.ts';
import { goalBack } from '../../src/cli/rollback-goal.ts';
import { messageOf } from '../../src/kernel/fault.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { NOT_KEPT } from '../../src/kernel/undo.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox, sandboxPorts } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const FILE = '/files/upgrade.yaml';

async function performed(scenario: Scenario, ...typed: readonly string[]) {
  const bench = sandboxCommand(scenario);
  const exit = await bench.run(...typed);
  return { exit, out: bench.out(), err: bench.err() };
}

/** What a plan says of going back, and what `rollback` says once that plan was run. */
async function saidAndDone(...flags: readonly string[]) {
  const scenario = await installedSandbox({ cli: false });
  scenario.files.write(FILE, readFileSync(manifestFile(NETSVC_TARGET, 'netsvc.yaml', ownReleases), 'utf8'));
  const plan = await performed(scenario, 'plan', ...flags, '-o', 'json');
  const backout = (JSON.parse(plan.out) as PlanDocument).change?.backout.join('\n') ?? '';
  const run = await performed(scenario, 'run', '--yes', ...flags);
  assert.equal(run.exit, 0, run.out + run.err);
  const { clusterUid } = scenario;
  const here = { clusterUid, profile: netsvc, readRecord: (content: unknown) => content as RunRecord };
  const refusal = await goalBack(sandboxPorts(scenario).records, here).then(() => undefined, messageOf);
  return { backout, refusal };
}

describe('Backout of a plan', function () {
  this.timeout(60_000);

  it('is a rollback where rollback then goes back', async () => {
    const { backout, refusal } = await saidAndDone();
    assert.match(backout, /^Once the manifest is applied.*: kubectl netsvc-upgrade rollback /m);
    assert.equal(refusal, undefined);
  });

  it('has the flags of the connection in its commands', async () => {
    const { out } = await performed(await installedSandbox({ cli: false }), 'plan', '--context', 'prod', '-o', 'json');
    const commands = (JSON.parse(out) as { change: { backout: string[] } }).change.backout.filter((one) => one.includes('netsvc-upgrade'));
    assert.deepEqual(
      commands.filter((one) => !/netsvc-upgrade [a-z]+(?: --undo)? --context=prod/.test(one)),
      [],
    );
    assert.notEqual(commands.length, 0);
  });

  it('is none where rollback then refuses: the file was finished', async () => {
    const { backout, refusal } = await saidAndDone('--upgrade-file', FILE);
    assert.ok(refusal?.includes(NOT_KEPT), refusal);
    assert.doesNotMatch(backout, /: kubectl netsvc-upgrade rollback/);
    assert.match(backout, /^Once the manifest is applied.*: the files of the backup.*rollback refuses/m);
  });
});
