import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { backupStage } from '../../src/features/backup/index.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { crdsStage, waitStage } from '../../src/features/install/around.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { refOf } from '../../src/kernel/object.ts';
import { testFolder } from '../support/folders.ts';
import { openFindings } from '../support/owner-faults.ts';
import type { OwnerSandbox } from '../support/owner-sandbox.ts';
import { assertEnd, journalOf } from '../support/owner-sweep.ts';
import { performIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { recordsIn } from '../support/state.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';
import { releasesWithServer, served, upgradeSandbox } from '../support/upgrade-sandbox.ts';

const STAGES = [backupStage, ownerrefsStripStage, crdsStage, applyStage, waitStage, ownerrefsRestoreStage, ownerrefsForgetStage];

describe('a run that goes from machine to machine', () => {
  const folder = testFolder('machines-');
  let sandbox: OwnerSandbox;
  beforeEach(async () => {
    sandbox = await upgradeSandbox(await releasesWithServer(folder));
  });
  const agents = () => sandbox.scenario.cluster.store.get(K.DaemonSet, 'netsvc-node', 'kube-system') ?? assert.fail('no agents');

  /** A process on a machine that has nothing: a pod with an empty home. What it leaves there is gone afterwards. */
  async function onNewMachine(count: number): Promise<ChainOutcome> {
    const { scenario, cluster } = sandbox;
    const workFolder = await mkdtemp(join(folder, 'pod-'));
    assert.deepEqual(await readdir(workFolder), []);
    const ports = { ...sandboxPorts({ ...scenario, workFolder }), cluster };
    const own = { ...ports, records: recordsIn(cluster), journal: journalOf(sandbox, cluster) };
    const outcome = await performIn({ ...scenario, workFolder }, STAGES.slice(0, count), {}, { profile: served, ports: own });
    for (const path of scenario.files.below(workFolder)) scenario.files.remove(path);
    await rm(workFolder, { recursive: true });
    return outcome;
  }

  it('comes to its end with the user’s changes and each reference, and is asked nothing', async () => {
    const path = '/spec/template/spec/containers/0/env/-';
    const mine = { name: 'MINE', value: 'kept' };
    await sandbox.cluster.patch(K.DaemonSet, refOf(agents()), [{ op: 'add', path, value: mine }], 'kubectl-set');
    for (const [index, { id }] of STAGES.entries()) {
      const outcome = await onNewMachine(index + 1);
      assert.equal(outcome.exit, 'done', `${id}: ${outcome.message ?? openFindings(outcome)}`);
    }
    await assertEnd(sandbox, 'each stage on a machine of its own');
    assert.match(JSON.stringify(agents().spec), /"name":"MINE","value":"kept"/);
    assert.match(JSON.stringify(agents().spec), pattern`${NETSVC_TARGET}`);
  });

  it('continues what was killed half-way on another one', async () => {
    const { faults } = sandbox.scenario.cluster;
    assert.equal((await onNewMachine(2)).exit, 'done');
    faults.plan({ at: faults.writes + 12, kill: 'after' });
    await onNewMachine(STAGES.length).catch(() => undefined);
    assert.ok(faults.killed);
    faults.plan();
    const outcome = await onNewMachine(STAGES.length);
    assert.equal(outcome.exit, 'done', outcome.message ?? openFindings(outcome));
    await assertEnd(sandbox, 'resumed elsewhere');
  });
});
