import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { crdsStage, waitStage } from '../../src/features/install/around.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { WriteFault } from '../../src/sandbox/api-faults.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import type { LineFault, RequestFault } from './owner-faults.ts';
import { assertDone, type BadLine, badLine, FAULTS, faultPoints, faultyCluster, isRead } from './owner-faults.ts';
import { assertEnd, journalOf, watchGaps } from './owner-sweep.ts';
import { performIn, sandboxPorts } from './sandbox-ports.ts';
import { releasesWithServer, served, upgradeSandbox } from './upgrade-sandbox.ts';

type ChainGround = Awaited<ReturnType<typeof openGround>>;

/** The clean run of strip, upgrade and restore, in a folder of its own that goes after the tests. */
export function chainGround(): () => ChainGround {
  let folder = '';
  let ground: ChainGround | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
    ground = await openGround(folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  return () => ground ?? assert.fail('the clean run has not ended');
}

/** Describes a whole sweep: every point that is picked. One that fails does not end it. */
export function describeChainSweep(title: string, pick: (all: readonly ChainPoint[]) => readonly ChainPoint[]): void {
  describe(`owned objects through strip, upgrade and restore: every fault at ${title}`, function () {
    this.timeout(WHOLE_MS);
    const ground = chainGround();

    it('is fixed by one more run, and no reference is nowhere at any moment', async () => {
      const { points, trial } = ground();
      const failures: string[] = [];
      for (const point of pick(points)) await trial(point).catch((thrown: unknown) => void failures.push(String(thrown)));
      assert.deepEqual(failures, []);
    });
  });
}

/** Some 3,500 points at half a second each; milliseconds. */
const WHOLE_MS = 5_400_000;

/** What endangers owned objects, and what saves them, as `run` performs it. */
const STAGES = [ownerrefsStripStage, crdsStage, applyStage, waitStage, ownerrefsRestoreStage, ownerrefsForgetStage];

/** One fault on the way: at a request of the program, or at a write that kubectl sends in one of its runs. */
interface ChainPoint extends LineFault {
  readonly among: 'requests' | 'writes of kubectl';
  readonly what: string;
  readonly isRead: boolean;
}

/** What kubectl meets where a request of ours would meet the fault of this name. */
const KUBECTL_FAULTS: Partial<Record<RequestFault, DistributedOmit<WriteFault>>> = {
  'kill-before': { kill: 'before' },
  'kill-after': { kill: 'after' },
  409: { status: 409 },
  429: { status: 429 },
  500: { status: 500 },
  503: { status: 503 },
  reset: { lost: 'before' },
  'timeout-after': { lost: 'after' },
};
type DistributedOmit<T> = T extends unknown ? Omit<T, 'at'> : never;

/** A cluster of its own, and what processes do to it. */
async function openChain(releasesFolder: string, folder: string) {
  const workFolder = await mkdtemp(join(folder, 'chain-'));
  const sandbox = await upgradeSandbox(releasesFolder);
  // The archive of the journal is a real file.
  const scenario = { ...sandbox.scenario, workFolder };
  const { faults, store, kinds } = scenario.cluster;
  const { found: gaps, onWritten } = watchGaps(sandbox);
  const lists = new Map();
  /** What kubectl wrote, by the number among all writes. */
  const byKubectl: number[] = [];
  return {
    ...{ scenario, byKubectl },
    /** A new process performs the chain over this line. */
    async run(line: BadLine): Promise<ChainOutcome> {
      const ports = sandboxPorts(scenario);
      const { cluster } = faultyCluster(sandbox.cluster, scenario, { lists, onWritten, line });
      const run: typeof ports.tools.run = async (invocation, options) => {
        const first = faults.writes + 1;
        const result = await ports.tools.run(invocation, options);
        for (let at = first; at <= faults.writes; at += 1) byKubectl.push(at);
        return result;
      };
      const tools = faultyTools({ ...ports.tools, run }, line);
      const bad = { ...ports, cluster, tools, records: faultyRecords(ports.records, line), journal: journalOf(sandbox, cluster) };
      return performIn(scenario, STAGES, {}, { profile: served, ports: bad });
    },
    /** It came to its end, at no moment an object lacked what no stored record holds; every object that controllers and time have not made. */
    async end(outcome: ChainOutcome, what: string): Promise<readonly unknown[]> {
      assertDone(outcome, what);
      assert.deepEqual(gaps, [], what);
      await assertEnd(sandbox, what);
      const objects = kinds().flatMap((kind) => (kind.plural === K.Pod.plural ? [] : store.list(kind)));
      return objects.map(({ kind, metadata, spec, data }) => ({ kind, name: metadata.name, spec, data }));
    },
  };
}

async function openGround(folder: string) {
  const releases = await releasesWithServer(folder);
  const clean = await openChain(releases, folder);
  const line = badLine(clean.scenario);
  const end = await clean.end(await clean.run(line), 'the clean run');
  return {
    points: chainPoints(line.requests, clean.byKubectl),
    /** One fault, then one re-run: the same end. */
    async trial(point: ChainPoint): Promise<void> {
      const { scenario, ...chain } = await openChain(releases, folder);
      const { faults } = scenario.cluster;
      const bad = badLine(scenario, point.among === 'requests' ? point : undefined);
      const ofKubectl = KUBECTL_FAULTS[point.type];
      if (point.among !== 'requests' && ofKubectl) faults.plan({ at: point.at, ...ofKubectl });
      await chain.run(bad).catch(() => undefined);
      const reached = point.among === 'requests' ? bad.requests.length : faults.writes;
      const what = `${point.type} at number ${point.at} of the ${point.among} (${point.what})`;
      assert.ok(reached >= point.at, `${what}: never reached`);
      faults.plan();
      assert.deepEqual(await chain.end(await chain.run(badLine(scenario)), what), end, what);
    },
  };
}

function chainPoints(requests: readonly string[], writes: readonly number[]): readonly ChainPoint[] {
  const ofRequests = faultPoints(requests).map((point) => {
    const what = requests[point.at - 1] ?? '';
    return { among: 'requests', what, isRead: isRead(what), ...point } as const;
  });
  const types = FAULTS.filter((type) => type in KUBECTL_FAULTS);
  const one = { among: 'writes of kubectl', what: 'a write', isRead: false } as const;
  return [...ofRequests, ...writes.flatMap((at) => types.map((type) => ({ ...one, at, type })))];
}
