import assert from 'node:assert/strict';
import { TYPHA } from '../support/operated-bench.ts';
import { type OperatedCluster, operatedCluster } from '../support/operated-cluster.ts';
import { hasReleases, releases } from '../support/shared.ts';

const CALICO = ['--profile', 'calico', '--release', 'v3.32.1', '--manifest-url', releases] as const;
const RUN = ['run', '--yes', '--skip', 'cli', ...CALICO, '--accept', TYPHA] as const;

const text = (result: { exitCode: number | undefined; stdout: string; stderr: string }) =>
  `exit ${result.exitCode}\n${result.stdout}\n${result.stderr}`;

describe('an operator that does not do as it should, on a real control plane', () => {
  let cluster: OperatedCluster;
  before(async function () {
    if (!hasReleases()) this.skip();
    cluster = await operatedCluster({ mode: 'deaf', pace: 0.1 });
  });
  after(() => cluster?.stop());

  it('is named where it is deaf: its statuses stay green, and the run does not end well', async () => {
    const stuck = await cluster.upgrade(...RUN, '--timeout', '100s');
    assert.equal(stuck.exitCode, 124, text(stuck));
    assert.match(stuck.stderr, /deaf operator: Deployment\/tigera-operator\/tigera-operator/);
    const calico = '{.status.conditions[?(@.type=="Available")].status}';
    assert.equal(await cluster.read('tigerastatuses calico', calico), 'True', 'the old status is still green');
  });

  it('ends well once it answers, and not before a status that turned red after green has healed', async () => {
    cluster.manner.mode = 'flap';
    const done = await cluster.upgrade(...RUN);
    assert.equal(done.exitCode, 0, text(done));
    assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), 'v3.32.1');
    const degraded = '{.items[*].status.conditions[?(@.type=="Degraded")].status}';
    assert.doesNotMatch(await cluster.read('tigerastatuses', degraded), /True/);
  });
});
