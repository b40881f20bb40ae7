import assert from 'node:assert/strict';
import { unlessGone } from '../control-plane/api.ts';
import { describeGroundSweep, type GroundSweep } from '../support/describe-sweep.ts';
import { armed, type FaultPoint, pointText } from '../support/fault-points.ts';
import { assertEnding, type EndedRun } from '../support/fault-sweep.ts';
import { within } from '../support/installed-cluster.ts';
import { JOURNAL, type OwnedCluster, ownedCluster, TARGET } from '../support/owned-cluster.ts';
import { assertRecorded } from '../support/owner-graph.ts';
import { patient } from '../support/patience.ts';
import { killWithChildren } from '../support/proxied-cluster.ts';
import { releases } from '../support/releases.ts';
import { seedOf } from '../support/seed.ts';
import { startUpgrade, told } from '../support/upgrade-process.ts';

const DEPENDENTS = 20;
const RUN = ['run', '--yes', '--skip', 'cli', '--base', releases, ...TARGET] as const;

/**
 * Faults at any request of a whole upgrade with owned objects: a process that is really killed, references that come off, an API server with
 * new UIDs, policies with new names, references that go back. The same command again must bring everything back.
 */
const OWNED_UPGRADE: GroundSweep = {
  what: `a cluster with ${DEPENDENTS} owned objects is upgraded`,
  keeps: 'loses no object and no reference',
  async open() {
    const clean = await within(ownedCluster(DEPENDENTS), async (owned) => {
      const run = await perform(owned);
      assert.equal(run.exitCode, 0, told(run));
      await assertEnd(owned, 'the clean run');
      return [...owned.proxy.requests];
    });
    return { clean, sweep: (point) => within(ownedCluster(DEPENDENTS), (owned) => swept(owned, point)) };
  },
};

/** More than any run needs, faults and pauses included; milliseconds. */
const RUN_LIMIT_MS = 120_000;

/** The fault, then the same command again; false if it was never reached. */
async function swept(owned: OwnedCluster, point: FaultPoint): Promise<boolean> {
  const { cluster, proxy, first } = owned;
  const spoilt = await perform(owned, point);
  const struck = proxy.disarm();
  const where = `${pointText(point)}: ${struck ? `${struck.method} ${struck.path}` : 'never reached'}`;
  if (struck) assertEnding(point, spoilt, where);
  // What is back with its new UID needs no record: `run` ends its journal in several writes.
  await assertRecorded(cluster.plane, first, where, owned.convertsUids() ? await owned.wanted() : first);
  const again = await perform(owned);
  const both = `${where}\nfirst: ${told(spoilt)}\nthen: ${told(again)}`;
  assert.equal(again.exitCode, 0, both);
  await assertEnd(owned, both);
  return struck !== undefined;
}

/** Everything is back, with the new UIDs, nothing was removed before its record was acknowledged, and the journal has ended. */
async function assertEnd(owned: OwnedCluster, where: string): Promise<void> {
  assert.deepEqual(await owned.graph(), await owned.wanted(), where);
  assert.deepEqual(owned.tooEarly(), [], where);
  assert.ok(await hasEnded(owned), where);
}

/** The cluster holds no journal. */
function hasEnded({ cluster }: OwnedCluster): Promise<boolean> {
  return cluster.plane.api.get(JOURNAL).then(
    () => false,
    (thrown) => {
      unlessGone(thrown);
      return true;
    },
  );
}

/** The program to its end, or to its death by SIGKILL with whatever it started. */
async function perform({ cluster, proxy }: OwnedCluster, point?: FaultPoint): Promise<EndedRun> {
  const running = startUpgrade(RUN, cluster.around, RUN_LIMIT_MS);
  if (point) proxy.arm(armed(point, () => void (running.pid !== undefined && killWithChildren(running.pid))));
  const { exitCode, stdout, stderr, signal, timedOut } = await running;
  assert.ok(!timedOut, `no end within ${patient(RUN_LIMIT_MS) / 1000} s\n${stderr}`);
  return { exitCode, stdout, stderr, killed: signal === 'SIGKILL' };
}

/** The writes by which `run` ends its journal: head, two chunks, head. Three writes follow them. */
const JOURNAL_ENDS = [-7, -6, -5, -4];

/** Another day, other points; SEED=N brings those of a failure back. */
describeGroundSweep(
  {
    points: 16,
    seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)),
    and: [
      ...JOURNAL_ENDS.map((nth) => ({ kind: 'kill-after', among: 'writes', nth }) as const),
      { kind: 'silence-after', among: 'writes', nth: -6 },
      // Chance has few watches to choose from.
      { kind: 'gone', among: 'watches', nth: 2 },
    ],
  },
  OWNED_UPGRADE,
);
