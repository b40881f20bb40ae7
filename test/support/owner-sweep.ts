import assert from 'node:assert/strict';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import type { JournalStore } from '../../src/kernel/journal.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Cluster, Lock } from '../../src/kernel/ports.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { lockHolder, type Runner, sandboxLock } from './owner-lock.ts';
import { type OwnerSandbox, plainName, renaming, textOf } from './owner-sandbox.ts';
import { type Flags, performIn, sandboxPorts } from './sandbox-ports.ts';
import { numbersFrom } from './seed.ts';
import { journalIn } from './state.ts';

export function journalOf({ scenario }: OwnerSandbox, cluster: Cluster): JournalStore {
  return journalStore({
    place: journalIn(cluster),
    form: async () => ownerEntries,
    clusterUid: scenario.clusterUid,
    profile: 'netsvc',
    runId: 'r1',
  });
}

interface Performing {
  readonly flags?: Flags;
  /** With controllers that rename policies, whatever the agents are called, unless said. */
  readonly profile?: Profile;
  readonly cluster?: Cluster;
  /** The cluster's alone unless said. */
  readonly journal?: JournalStore;
  /** One in memory, free of whoever was killed, unless said. */
  readonly lock?: Lock;
}

/** A new process performs the stages. */
export function perform(
  sandbox: OwnerSandbox,
  stages: readonly AnyStage[],
  workFolder: string,
  { flags = {}, profile = renaming, cluster = sandbox.cluster, journal, lock }: Performing = {},
): Promise<ChainOutcome> {
  const { scenario } = sandbox;
  const ports = { ...sandboxPorts(scenario), cluster, journal: journal ?? journalOf(sandbox, cluster), ...(lock ? { lock } : {}) };
  return performIn({ ...scenario, workFolder }, stages, flags, { profile, ports });
}

/** Off, the upgrade, back, and the end of the journal; stops where something does not end well. Rejects with Killed where it was killed. */
export async function whole(sandbox: OwnerSandbox, workFolder: string, cluster: Cluster, runner: Runner): Promise<ChainOutcome> {
  const { scenario } = sandbox;
  const off = await perform(sandbox, [ownerrefsStripStage], workFolder, { cluster, lock: sandboxLock(scenario, cluster, runner) });
  // Killed while it gave the lock back: nobody was there any more to hear of it.
  scenario.cluster.faults.alive();
  if (off.exit !== 'done') return off;
  if (!sandbox.upgraded) sandbox.upgrade();
  const lock = sandboxLock(scenario, cluster, runner);
  const back = await perform(sandbox, [ownerrefsRestoreStage, ownerrefsForgetStage], workFolder, { cluster, lock });
  scenario.cluster.faults.alive();
  return back;
}

/** So many of them, by the seed. */
export function sampled<T>(points: readonly T[], count: number, seed: number): readonly T[] {
  const next = numbersFrom(seed);
  return points
    .map((point) => ({ point, rank: next() }))
    .sort((one, other) => one.rank - other.rank)
    .slice(0, count)
    .map(({ point }) => point);
}

export async function assertEnd(sandbox: OwnerSandbox, what: string): Promise<void> {
  assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted], what);
  const secrets = await sandbox.cluster.list(K.Secret, { namespace: 'kube-system' });
  const left = secrets.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('netsvc-upgrade-owners'));
  assert.deepEqual(left, [], `${what}: the journal`);
  assert.deepEqual([sandbox.scenario.state.holder, lockHolder(sandbox.scenario)], [undefined, undefined], `${what}: the lock`);
}

/** References that are nowhere, at any moment after a write. */
export function watchGaps(sandbox: OwnerSandbox, found: string[] = []) {
  return { found, onWritten: async () => void found.push(...(await unrecordedGaps(sandbox))) };
}

/** References that neither the object nor the journal in the cluster has. */
async function unrecordedGaps(sandbox: OwnerSandbox): Promise<readonly string[]> {
  const entries = (await journalOf(sandbox, sandbox.cluster).load())?.entries ?? [];
  const recorded = new Map(
    entries.map((entry) => [`${entry.object.kind}/${plainName(entry.object.name)}`, entry.references.map((one) => textOf(one, true))]),
  );
  const now = sandbox.graph();
  return Object.entries(sandbox.wanted).flatMap(([object, wanted]) => {
    const there = new Set([...(now[object] ?? []).map((one) => one.replace(' DEAD', '')), ...(recorded.get(object) ?? [])]);
    return wanted.filter((one) => !there.has(one)).map((one) => `${object} lacks ${one}`);
  });
}
