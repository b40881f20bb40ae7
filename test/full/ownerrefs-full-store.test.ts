import assert from 'node:assert/strict';
import { type StoreSpace, storeSpace } from '../control-plane/store-space.ts';
import { shared } from '../support/installed-cluster.ts';
import { bareGraph, ownedPlane, TARGET } from '../support/owned-cluster.ts';
import { patchesStored } from '../support/owned-objects.ts';
import { assertRecorded } from '../support/owner-graph.ts';
import { assertSucceeded, told, type UpgradeProcess, upgrade } from '../support/upgrade-process.ts';

const DEPENDENTS = 1000;
const QUOTA_BYTES = 64 * 1024 ** 2;
/** Enough for lock, run record, journal and the first patches, and soon filled; bytes. */
const ROOM_BYTES = 4_000_000;
/** Patches a second: slow enough that the store gets full in the midst of them. */
const RATE = 25;
/** Patches that are stored when it does. */
const STORED = 60;

describe(`${DEPENDENTS} dependents on a cluster whose etcd is full`, function () {
  this.timeout(280_000);
  const owned = shared(() => ownedPlane(DEPENDENTS, { maxMinutes: 15, storeQuotaBytes: QUOTA_BYTES }));
  let space: StoreSpace;
  before(async () => {
    space = storeSpace(owned.plane.store);
  });

  const command = (...args: readonly string[]) => upgrade(['ownerrefs', ...args, '--yes', ...TARGET], owned.around);
  const assertFull = (result: UpgradeProcess) => {
    assert.equal(result.exitCode, 1, told(result));
    assert.match(result.stderr, /^error: .*database space exceeded/m);
    assert.match(result.stdout, /make room in etcd/);
    assert.match(result.stdout, /then resume: /);
  };

  it('keep every reference, and the error says how to make room', async () => {
    await space.fill();
    assertFull(await command('strip'));
    assert.deepEqual(await owned.graph(), owned.first);
    await space.makeRoom();
  });

  it('lose none that is not recorded where it gets full while they come off', async () => {
    await space.fillBut(ROOM_BYTES);
    const over = new AbortController();
    const ended = command('strip', `--qps=${RATE}`).finally(() => over.abort());
    await patchesStored(owned.plane.api, STORED, over.signal);
    await space.fill();
    assertFull(await ended);
    const lacking = await assertRecorded(owned.plane, owned.first, 'full half-way');
    assert.ok(lacking >= STORED && lacking < DEPENDENTS, `${lacking} of ${DEPENDENTS} have lost references`);
  });

  it('lose the rest by the same command once there is room again', async () => {
    await space.makeRoom();
    assertSucceeded(await command('strip'));
    assert.deepEqual(await owned.graph(), bareGraph(owned.first));
  });

  it('keep the record of every reference where it is full again while they go back, and have them all once there is room', async () => {
    await space.fill();
    assertFull(await command('restore', '--undo'));
    await assertRecorded(owned.plane, owned.first, 'full before the restore');
    await space.makeRoom();
    assertSucceeded(await command('restore', '--undo'));
    assert.deepEqual(await owned.graph(), owned.first);
  });
});
