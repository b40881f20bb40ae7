import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertWritesNothing, installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

const PARTS = ['--skip', 'cli', '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const AGENT = ['ds', 'calico-node', '-n', 'kube-system'] as const;

describe('a saved plan on a real control plane', function () {
  this.timeout(280_000);
  const cluster = shared(() => installedCluster({ manifest: manifestFile('v3.27.5', 'calico.yaml'), nodes: 2 }), 600_000);
  let file: string;
  const run = () => ['run', '--yes', '--plan-file', file, ...PARTS];
  before(async () => {
    file = join(cluster.around.home, 'plan.json');
    assertSucceeded(await cluster.upgrade('plan', '--out', file, ...PARTS));
  });

  it('is stale for another content of one object, which is named, and nothing is written', async () => {
    await cluster.plane.kubectl(['label', ...AGENT, 'by=hand']);
    const before = await cluster.versions();
    const refused = await cluster.upgrade(...run());
    assert.equal(refused.exitCode, 7, told(refused));
    assert.match(refused.stderr, /is stale: DaemonSet\/kube-system\/calico-node has changed since the plan/);
    assert.deepEqual(await cluster.versions(), before);
    await cluster.plane.kubectl(['label', ...AGENT, 'by-']);
  });

  it('is refused for another cluster', async () => {
    const other = join(cluster.around.home, 'other.json');
    writeFileSync(other, readFileSync(file, 'utf8').replace(/("uid": ")[^"]+"/, '$1another"'));
    const refused = await cluster.upgrade('run', '--yes', '--plan-file', other, ...PARTS);
    assert.equal(refused.exitCode, 7, told(refused));
    assert.match(refused.stderr, /was made for another cluster/);
  });

  it('is still true while nodes come and statuses change; killed in the middle, the same command ends it', async () => {
    await cluster.plane.addNodes(1);
    // An agent that is not ready would stop the preflight, as it should.
    await cluster.plane.kubectl(['rollout', 'status', ...AGENT, '--timeout=60s']);
    await killedAt(run(), cluster.around, /serverside-applied/);
    assertSucceeded(await cluster.upgrade(...run()));
    assert.match(await cluster.read(AGENT.join(' '), '{.spec.template.spec.containers[0].image}'), pattern`:${CALICO_TARGET}$`);
  });

  it('has nothing left to do afterwards', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...run()));
  });
});
