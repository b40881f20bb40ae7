import assert from 'node:assert/strict';
import { type Attacker, attacker } from '../support/attacker.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { recordsIn } from '../support/state.ts';
import { assertSucceeded, startUpgrade, untilSaid } from '../support/upgrade-process.ts';

const OLD = 'v3.26.4';
const NETSVC = ['--profile', 'netsvc', '--manifest-url', ownReleases] as const;

/** Who may write Secrets of kube-system is trusted; what a second run writes is not overwritten all the same. */
describe('a second run beside a living one', function () {
  this.timeout(280_000);
  let other: Attacker;
  after(() => other?.close());
  const cluster = shared(() => installedCluster({ manifest: manifestFile(OLD, 'netsvc.yaml', ownReleases), nodes: 2 }));
  before(async () => {
    other = await attacker(cluster.plane, 'writer', ['secrets']);
  });

  it('after unlock ends the first one with exit 7, the name of the Secret and the next step, and nothing of it is overwritten', async () => {
    // The first one is still at work when the second one writes.
    await cluster.plane.fault('node-02', 'image-pull');
    const child = startUpgrade(['apply', '--yes', '-v=1', ...NETSVC], cluster.around);
    await untilSaid(child, /serverside-applied/);
    assertSucceeded(await cluster.upgrade('unlock', '--yes', '--profile', 'netsvc'));
    const records = recordsIn(other.cluster);
    const record = (await records.load()) ?? assert.fail('no run is recorded');
    const theirs = { ...record, startedBy: 'the second one' };
    await records.save(theirs);
    await cluster.plane.fault('node-02', 'none');
    const { exitCode, stdout, stderr } = await child;
    assert.equal(exitCode, 7, `${stdout}\n${stderr}`);
    assert.match(stderr, /Secret\/kube-system\/netsvc-upgrade-run was changed by somebody else during this run/);
    assert.match(stdout, /then {4}resume: /);
    assert.doesNotMatch(stderr, /^\s+at /m);
    assert.deepEqual(await recordsIn(other.cluster).load(), theirs);
    assertSucceeded(await cluster.upgrade('run', '--yes', '--skip', 'cli', ...NETSVC));
  });
});
