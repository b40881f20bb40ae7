import assert from 'node:assert/strict';
import { until } from '../control-plane/until.ts';
import { shared } from '../support/installed-cluster.ts';
import { bareGraph, ownedCluster, TARGET } from '../support/owned-cluster.ts';
import { patchesStored } from '../support/owned-objects.ts';
import { assertRecorded, type OwnerGraph } from '../support/owner-graph.ts';
import { releases } from '../support/releases.ts';
import { assertSucceeded, told, type UpgradeProcess } from '../support/upgrade-process.ts';

const DEPENDENTS = 600;
/** Patches a second: slow enough that the server goes away in the midst of them. */
const RATE = 100;
/** Patches that are stored when it goes. */
const STORED = 60;

describe(`${DEPENDENTS} dependents, kube-apiserver restarted while their references come off and go back`, function () {
  this.timeout(600_000);
  const owned = shared(() => ownedCluster(DEPENDENTS));

  const command = (...args: readonly string[]) => owned.cluster.upgrade(...args, ...TARGET);

  /** In the midst of its patches the server goes away, and comes back as `back` has it; resolves to how the command ended. */
  async function struck(verb: string, graceMs: number, back: (ended: Promise<UpgradeProcess>) => Promise<void>): Promise<UpgradeProcess> {
    const { plane } = owned.cluster;
    const over = new AbortController();
    const ended = command('ownerrefs', verb, '--yes', `--qps=${RATE}`).finally(() => over.abort());
    await patchesStored(plane.api, STORED, over.signal);
    if (over.signal.aborted) assert.fail(`it was at its end too early: ${told(await ended)}`);
    await plane.apiServerDown(graceMs);
    await back(ended);
    await plane.apiServerUp();
    await until('the server is ready', async () => (await plane.kubectl(['get', '--raw', '/readyz'])).exitCode === 0);
    await until('every kind can be listed', async () => Object.keys(await owned.graph()).length > 0);
    return ended;
  }

  /** Half of it is done, nothing is lost, and the error says how to go on. */
  async function assertHalfDone(result: UpgradeProcess, verb: string, end: () => Promise<OwnerGraph>): Promise<void> {
    assert.equal(result.exitCode, 1, told(result));
    assert.match(result.stderr, /^error: .*no answer from https:\/\/127\.0\.0\.1:\d+/m);
    assert.match(result.stdout, /then {1,4}resume: /);
    await assertRecorded(owned.cluster.plane, owned.first, verb);
    const [now, wanted] = [await owned.graph(), await end()];
    const done = Object.keys(wanted).filter((key) => JSON.stringify(now[key]) === JSON.stringify(wanted[key])).length;
    assert.ok(done >= STORED && done < DEPENDENTS, `${done} of ${DEPENDENTS} are done`);
  }

  /** Shut down until the command gives up, then a crash and a start at once; whatever comes of that, one more command comes to the end. */
  async function throughOutages(verb: string, end: () => Promise<OwnerGraph>): Promise<void> {
    await assertHalfDone(await struck(verb, 5000, async (ended) => void (await ended)), verb, end);
    const restarted = await struck(verb, 0, async () => undefined);
    await assertRecorded(owned.cluster.plane, owned.first, verb);
    if (restarted.exitCode !== 0) {
      await assertHalfDone(restarted, verb, end);
      assertSucceeded(await command('ownerrefs', verb, '--yes'));
    }
    assert.deepEqual(await owned.graph(), await end());
  }

  it('lose the references that the upgrade breaks, each recorded before', async () => {
    await throughOutages('strip', async () => bareGraph(owned.first));
  });

  it('have every reference back at its place after the upgrade, with its flags and the new UID', async () => {
    assertSucceeded(await command('run', '--yes', '--skip', 'cli', '--base', releases, '--through', 'wait'));
    await until('policies have their new names', async () => owned.migrated.length >= 2);
    await throughOutages('restore', owned.wanted);
  });
});
