import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { applyStage } from '../../src/features/install/apply-stage.ts';
import { crdsStage, waitStage } from '../../src/features/install/around.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { WriteFault } from '../../src/sandbox/api-faults.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { faultyRecords, faultyTools } from './faulty-ports.ts';
import {
  assertDone,
  type BadLine,
  badLine,
  FAULTS,
  type FaultyOptions,
  faultPoints,
  faultyCluster,
  isRead,
  type LineFault,
  type RequestFault,
} from './owner-faults.ts';
import type { OwnerSandbox } from './owner-sandbox.ts';
import { assertEnd, journalOf, watchGaps } from './owner-sweep.ts';
import { performIn, sandboxPorts } from './sandbox-ports.ts';
import { releasesWithServer, served, upgradeSandbox } from './upgrade-sandbox.ts';

/** What a sweep over the chain works with, made before its tests. */
interface ChainGround {
  readonly clean: CleanChain;
  /** One fault and one re-run; rejects where they do not come to the clean run's end. */
  trial(point: ChainPoint): Promise<void>;
}

/** The clean run of strip, upgrade and restore, in a folder of its own that goes after the tests. */
export function chainGround(): () => ChainGround {
  let folder = '';
  let ground: ChainGround | undefined;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
    const releases = await releasesWithServer(folder);
    const clean = await cleanChain(releases, folder);
    ground = { clean, trial: (point) => chainTrial(point, clean, releases, folder) };
  });
  after(() => rm(folder, { recursive: true, force: true }));
  return () => ground ?? assert.fail('the clean run has not ended');
}

/** Describes a whole sweep: every point that is picked. One that fails does not end it. */
export function describeChainSweep(title: string, pick: (points: readonly ChainPoint[]) => readonly ChainPoint[]): void {
  describe(`owned objects through strip, upgrade and restore: every fault at ${title}`, function () {
    this.timeout(WHOLE_MS);
    const ground = chainGround();

    it('is fixed by one more run, and no reference is nowhere at any moment', async () => {
      const { clean, trial } = ground();
      const failures: string[] = [];
      for (const point of pick(clean.points)) await trial(point).catch((thrown: unknown) => void failures.push(String(thrown)));
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

/** A new process performs the chain over this line; and what kubectl wrote, by the number among all writes. */
async function run(sandbox: OwnerSandbox, workFolder: string, line: BadLine, more: FaultyOptions) {
  const { scenario } = sandbox;
  // The archive of the journal is a real file.
  const ports = sandboxPorts({ ...scenario, workFolder });
  const { cluster } = faultyCluster(sandbox.cluster, scenario, { ...more, line });
  const byKubectl: number[] = [];
  const tools = counted(ports.tools, scenario, byKubectl);
  const bad = { ...ports, cluster, tools: faultyTools(tools, line), records: faultyRecords(ports.records, line) };
  const around = { profile: served, ports: { ...bad, journal: journalOf(sandbox, cluster) } };
  return { outcome: await performIn({ ...scenario, workFolder }, STAGES, {}, around), byKubectl };
}

function counted(tools: ReturnType<typeof sandboxPorts>['tools'], { cluster: { faults } }: Scenario, writes: number[]) {
  const run: typeof tools.run = async (invocation, options) => {
    const first = faults.writes + 1;
    const result = await tools.run(invocation, options);
    for (let at = first; at <= faults.writes; at += 1) writes.push(at);
    return result;
  };
  return { ...tools, run };
}

/** How the chain goes when nothing goes wrong. */
interface CleanChain {
  readonly points: readonly ChainPoint[];
  readonly end: unknown;
}

async function cleanChain(releasesFolder: string, folder: string): Promise<CleanChain> {
  const sandbox = await upgradeSandbox(releasesFolder);
  const line = badLine(sandbox.scenario);
  const gaps = watchGaps(sandbox);
  const { outcome, byKubectl } = await run(sandbox, await mkdtemp(join(folder, 'clean-')), line, { lists: new Map(), ...gaps });
  assertDone(outcome, 'the clean run');
  assert.deepEqual(gaps.found, []);
  await assertEnd(sandbox, 'the clean run');
  return { points: chainPoints(line.requests, byKubectl), end: endOf(sandbox) };
}

function chainPoints(requests: readonly string[], writes: readonly number[]): readonly ChainPoint[] {
  const ofRequests = faultPoints(requests).map((point) => {
    const what = requests[point.at - 1] ?? '';
    return { among: 'requests', what, isRead: isRead(what), ...point } as const;
  });
  const types = FAULTS.filter((type) => type in KUBECTL_FAULTS);
  const ofKubectl = writes.flatMap((at) =>
    types.map((type) => ({ among: 'writes of kubectl', what: 'a write', isRead: false, at, type }) as const),
  );
  return [...ofRequests, ...ofKubectl];
}

/** One fault, then one re-run: the same end, and at no moment an object that lacks what no stored record holds. */
async function chainTrial(point: ChainPoint, clean: CleanChain, releasesFolder: string, folder: string): Promise<void> {
  const workFolder = await mkdtemp(join(folder, 'chain-'));
  const sandbox = await upgradeSandbox(releasesFolder);
  const { faults } = sandbox.scenario.cluster;
  const gaps = watchGaps(sandbox);
  const lists = new Map();
  const line = badLine(sandbox.scenario, point.among === 'requests' ? point : undefined);
  const ofKubectl = KUBECTL_FAULTS[point.type];
  if (point.among !== 'requests' && ofKubectl) faults.plan({ at: point.at, ...ofKubectl });
  await run(sandbox, workFolder, line, { lists, ...gaps }).catch(() => undefined);
  const reached = point.among === 'requests' ? line.requests.length : faults.writes;
  const what = `${point.type} at number ${point.at} of the ${point.among} (${point.what})`;
  assert.ok(reached >= point.at, `${what}: never reached`);
  faults.plan();
  const again = await run(sandbox, workFolder, badLine(sandbox.scenario), { lists, ...gaps });
  assertDone(again.outcome, what);
  assert.deepEqual(gaps.found, [], what);
  await assertEnd(sandbox, what);
  assert.deepEqual(endOf(sandbox), clean.end, what);
}

/** Every object that controllers and time have not made. */
function endOf({ scenario: { cluster } }: OwnerSandbox): readonly unknown[] {
  const kinds = cluster.kinds().filter(({ plural }) => plural !== 'pods');
  return kinds
    .flatMap((kind) => cluster.store.list(kind))
    .map(({ kind, metadata, spec, data }) => ({ kind, name: metadata.name, spec, data }));
}
