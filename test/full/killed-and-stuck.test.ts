import assert from 'node:assert/strict';
import { differences, type EndState, readEndState } from '../support/end-state.ts';
import { type InstalledCluster, installedCluster, shared, within } from '../support/installed-cluster.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt, told } from '../support/upgrade-process.ts';

const RUN = ['run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;

function installed(): Promise<InstalledCluster> {
  return installedCluster({ manifest: manifestFile('v3.27.5', 'calico-typha.yaml'), nodes: 3 });
}

/** What a run that nothing disturbs comes to. */
function undisturbed(): Promise<EndState> {
  return within(installed(), async (cluster) => {
    assertSucceeded(await cluster.upgrade(...RUN));
    return readEndState(cluster.plane.api);
  });
}

describe('procedure C with published manifests, disturbed, on a real control plane', function () {
  this.timeout(280_000);
  let wanted: EndState;
  before(async () => {
    wanted = await undisturbed();
  });
  const cluster = shared(installed);

  it('is killed in the middle of apply', async () => {
    await cluster.plane.fault('node-02', 'image-pull');
    await killedAt([...RUN], cluster.around, /serverside-applied/);
  });

  it('is killed in the middle of the wait for the agents', async () => {
    await killedAt([...RUN], cluster.around, /calico-node node-\d+ (updating|new|failed)/);
  });

  it('stops at its time limit while one node is stuck, and names it', async () => {
    const stuck = await cluster.upgrade(...RUN, '--timeout', '10s');
    assert.equal(stuck.exitCode, 124, told(stuck));
    assert.match(stuck.stderr, /node-02/);
  });

  it('ends, once the node is freed, as if nothing had happened', async () => {
    await cluster.plane.fault('node-02', 'none');
    assertSucceeded(await cluster.upgrade(...RUN));
    assert.deepEqual(differences(wanted, await readEndState(cluster.plane.api)), []);
  });
});
