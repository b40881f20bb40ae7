import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { ApiFailure, type Cluster, type Lock } from '../../src/kernel/ports.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { assertDone, faultPoints, faultyCluster, isOfLock } from './owner-faults.ts';
import { elsewhere, lockHolder, onlyUnderLock, RUN_OUT_MS, type Runner, sandboxLock, storedLease } from './owner-lock.ts';
import { type OwnerSandbox, ownerSandbox } from './owner-sandbox.ts';
import { assertEnd, perform, watchGaps, whole } from './owner-sweep.ts';

/** How the lock of a run that is no more gets free for another machine. */
const FREED = ['runs out', 'is broken'] as const;

type LockPoint = Awaited<ReturnType<typeof lockPoints>>[number];

/** So long a patch is on its way back: the lock is renewed while references come off, and while they go back. Milliseconds. */
const SLOW_MS = 20_000;

/** Every request of the lock with every fault that it can meet, and every way of getting on after it. */
export async function lockPoints(workFolder: string) {
  const ground = await lockGround();
  const { cluster, requests } = faultyCluster(ground.clusterOf(FIRST), ground.sandbox.scenario, { lists: new Map() });
  const outcome = await whole(ground.sandbox, workFolder, cluster, FIRST);
  assertDone(outcome, 'the clean run');
  assert.deepEqual(ground.wrong, []);
  await assertEnd(ground.sandbox, 'the clean run');
  return faultPoints(requests).flatMap((point) => {
    const what = requests[point.at - 1] ?? '';
    return isOfLock(what) ? FREED.map((freed) => ({ ...point, what, freed })) : [];
  });
}

const FIRST = elsewhere('first@there');
const NEXT = elsewhere('next@here');

async function lockGround(slowMs = SLOW_MS) {
  const sandbox = await ownerSandbox({ ownedPolicy: true });
  const { scenario } = sandbox;
  /** What must never be: a write of somebody who did not hold the lock, a reference that is nowhere. */
  const { found: wrong, onWritten } = watchGaps(sandbox);
  const slow: Cluster = {
    ...sandbox.cluster,
    async patch(...asked) {
      const answer = await sandbox.cluster.patch(...asked);
      await scenario.clock.sleep(slowMs);
      return answer;
    },
  };
  return {
    ...{ sandbox, wrong, onWritten },
    /** The cluster as that machine writes to it. */
    clusterOf: (runner: Runner) => onlyUnderLock(slow, scenario, runner, wrong),
  };
}

/**
 * One fault at a request of the lock. Another machine then goes on with the same command: at once where the lock is free, and where it
 * is not, it is refused, writes nothing, and goes on once the lock is free.
 */
export async function lockTrial({ what, freed, ...fault }: LockPoint, folder: string): Promise<void> {
  const workFolder = await mkdtemp(join(folder, 'lock-'));
  const { sandbox, wrong, clusterOf, onWritten } = await lockGround();
  const { scenario } = sandbox;
  const title = `${fault.type} at request ${fault.at} (${what}), the lock ${freed}`;
  const lists = new Map();
  const bad = faultyCluster(clusterOf(FIRST), scenario, { fault, lists, onWritten });
  await whole(sandbox, workFolder, bad.cluster, FIRST).catch(() => undefined);
  assert.equal(bad.requests[fault.at - 1], what, `${title}: never reached`);
  scenario.cluster.faults.revive();
  const { cluster } = faultyCluster(clusterOf(NEXT), scenario, { lists, onWritten });
  const goOn = () => whole(sandbox, workFolder, cluster, NEXT);
  const held = lockHolder(scenario) === undefined ? undefined : storedLease(scenario);
  let again = await goOn();
  if (held) assert.deepEqual(storedLease(scenario), held, `${title}: taken from ${FIRST.identity}`);
  if (again.exit === 'locked') {
    assert.ok(held, `${title}: ${again.message}`);
    await free(freed, sandbox, sandboxLock(scenario, cluster, NEXT));
    again = await goOn();
  }
  assertDone(again, title);
  assert.deepEqual(wrong, [], title);
  // What was struck while it gave the lock back had nothing more to do: its lease runs out, for nobody renews it any more.
  if (lockHolder(scenario) === FIRST.identity) await free(freed, sandbox, sandboxLock(scenario, cluster, NEXT));
  await assertEnd(sandbox, title);
}

/** One patch after the other, each so long on its way back that the last are due when the lock has run out. Milliseconds. */
const CRAWL_MS = 12_000;
const TRY_AGAIN_MS = 5_000;
/** Longer than a lease lasts. */
const SILENT_MS = 200_000;

/**
 * References come off while nothing that the lock asks is answered any more, and another machine tries again and again to do the same.
 * Resolves to how the first one ended, once the other has come to the end.
 */
export async function silentLock(workFolder: string): Promise<ChainOutcome> {
  const { sandbox, wrong, clusterOf } = await lockGround(CRAWL_MS);
  const { scenario } = sandbox;
  const cluster = clusterOf(FIRST);
  const lock = sandboxLock(scenario, silentAfterTaking(cluster, scenario), FIRST);
  const first = perform(sandbox, [ownerrefsStripStage], workFolder, { cluster, lock, flags: { parallel: 1 } });
  let next: ChainOutcome;
  do {
    await scenario.clock.sleep(TRY_AGAIN_MS);
    next = await whole(sandbox, workFolder, clusterOf(NEXT), NEXT);
  } while (next.exit === 'locked');
  assertDone(next, 'the other machine');
  assert.deepEqual(wrong, []);
  await assertEnd(sandbox, 'the other machine');
  return first;
}

function silentAfterTaking(cluster: Cluster, { clock }: Scenario): Cluster {
  const unanswered = async (): Promise<never> => {
    await clock.sleep(SILENT_MS);
    throw new ApiFailure(0, 'ETIMEDOUT', 'no answer in time');
  };
  let isTaken = false;
  return {
    ...cluster,
    get: (...asked) => (isTaken ? unanswered() : cluster.get(...asked)),
    replace: unanswered,
    async create(...asked) {
      isTaken = true;
      return cluster.create(...asked);
    },
  };
}

/** By time, or as `unlock` does it on a person's word. */
async function free(how: LockPoint['freed'], { scenario }: OwnerSandbox, lock: Lock): Promise<void> {
  if (how === 'runs out') return scenario.clock.sleep(RUN_OUT_MS);
  await lock.breakLock(FIRST.identity);
}
