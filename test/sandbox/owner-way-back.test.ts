import assert from 'node:assert/strict';
import { runChain } from '../../src/engine/run-chain.ts';
import { ownerrefsForgetStage, ownerrefsRestoreStage } from '../../src/features/chain.ts';
import { rollbackNamesStage } from '../../src/features/going-back/index.ts';
import { ownerrefsStripStage } from '../../src/features/ownerrefs/strip-stage.ts';
import { K } from '../../src/kernel/kinds.ts';
import { groupOf, type KubeObject } from '../../src/kernel/object.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import type { AnyStage } from '../../src/kernel/stage.ts';
import { testFolder } from '../support/folders.ts';
import { assertDone, faultPoints, faultyCluster, isRead, type LineFault, openFindings } from '../support/owner-faults.ts';
import { sameMachine, sandboxLock } from '../support/owner-lock.ts';
import { type OwnerSandbox, ownerSandbox, plainName, renaming } from '../support/owner-sandbox.ts';
import { assertEnd, journalOf, perform, sampled } from '../support/owner-sweep.ts';
import { contextIn, sandboxPorts } from '../support/sandbox-ports.ts';
import { seedOf } from '../support/seed.ts';

const SAMPLE = 16;

interface Going {
  readonly cluster?: Cluster;
  readonly release?: string;
}

/** A new process performs stages of a rollback to what was installed. */
function rollBack(
  sandbox: OwnerSandbox,
  stages: readonly AnyStage[],
  workFolder: string,
  { cluster = sandbox.cluster, release = 'v3.26.4' }: Going = {},
) {
  const { scenario } = sandbox;
  const lock = sandboxLock(scenario, cluster, sameMachine('me'));
  const ports = { ...sandboxPorts(scenario), cluster, lock, journal: journalOf(sandbox, cluster) };
  const context = { ...contextIn({ ...scenario, workFolder }, { release }, renaming), intent: { kind: 'rollback' } as const };
  return runChain(stages, ports, context, () => undefined);
}

const OFF = [ownerrefsStripStage, rollbackNamesStage];
const BACK = [ownerrefsRestoreStage, ownerrefsForgetStage];

/** References as before, after an upgrade; `half`: it ended before it put them back. */
async function upgraded(folder: string, { half = false, held = false, converts = false } = {}): Promise<OwnerSandbox> {
  const sandbox = await ownerSandbox({ ownedPolicy: true, converts });
  assertDone(await perform(sandbox, [ownerrefsStripStage], folder), 'strip');
  sandbox.upgrade({ held });
  if (!half) assertDone(await perform(sandbox, BACK, folder), 'restore');
  // Stages alone end no run; the command takes the record of the upgrade over.
  delete sandbox.scenario.state.record;
  return sandbox;
}

/** Off, the old release, back. */
async function wholeBack(sandbox: OwnerSandbox, folder: string, going: Going = {}): Promise<void> {
  const off = await rollBack(sandbox, OFF, folder, going);
  sandbox.scenario.cluster.faults.alive();
  assertDone(off, 'off');
  sandbox.downgrade();
  const back = await rollBack(sandbox, BACK, folder, going);
  sandbox.scenario.cluster.faults.alive();
  assertDone(back, 'back');
}

const policiesOf = ({ scenario: { cluster } }: OwnerSandbox) =>
  cluster
    .kinds()
    .filter(({ group, kind }) => group === 'crd.netsvc.io' && kind.endsWith('NetworkPolicy'))
    .flatMap((kind) => cluster.store.list(kind).map(({ metadata }) => metadata.name));

describe('owner references on the way back, on the sandbox', function () {
  this.timeout(120_000);
  const folder = testFolder('owners-back-');

  const grounds: readonly [string, Parameters<typeof upgraded>[1]][] = [
    ['a whole upgrade', {}],
    ['an upgrade that had not put them back', { half: true }],
    ['an upgrade with the renaming held', { held: true, half: true }],
    ['an upgrade from a release that converts UIDs already', { converts: true }],
  ];
  for (const [what, options] of grounds)
    it(`are as before after ${what}, and nothing is collected on the way`, async () => {
      const sandbox = await upgraded(folder, options);
      const going = options?.converts ? { release: 'v3.28.5' } : {};
      await wholeBack(sandbox, folder, going);
      await assertEnd(sandbox, what);
      assert.ok(
        policiesOf(sandbox).every((name) => name.startsWith('default.')),
        policiesOf(sandbox).join(),
      );
      const { cluster, requests } = faultyCluster(sandbox.cluster, sandbox.scenario, { lists: new Map() });
      assertDone(await rollBack(sandbox, [...OFF, ...BACK], folder, { ...going, cluster }), 'again');
      assert.deepEqual(
        requests.filter((one) => !isRead(one)),
        [],
        'a second one writes nothing',
      );
    });

  it('keep names from being put back where one came back, and nothing is collected', async () => {
    const sandbox = await upgraded(folder);
    const { store } = sandbox.scenario.cluster;
    const isOwned = ({ metadata: { ownerReferences = [] } }: KubeObject) =>
      ownerReferences.some(({ apiVersion, kind }) => groupOf(apiVersion) === 'netsvc.io' && kind === 'GlobalNetworkPolicy');
    const [owned] = [K.ConfigMap, K.Secret, K.ClusterRole].flatMap((kind) =>
      store
        .list(kind)
        .filter(isOwned)
        .map((object) => ({ kind, object })),
    );
    assert.ok(owned);
    assertDone(await rollBack(sandbox, [ownerrefsStripStage], folder), 'off');
    const names = policiesOf(sandbox);
    const { kind, object } = owned;
    const { name, namespace, ownerReferences } = object.metadata;
    const now = store.get(kind, name, namespace);
    assert.ok(now && ownerReferences);
    store.update(kind, { ...now, metadata: { ...now.metadata, ownerReferences } });
    const blocked = await rollBack(sandbox, [rollbackNamesStage], folder);
    assert.equal(blocked.exit, 'blocked');
    assert.match(openFindings(blocked), /NS-701 1 reference to GlobalNetworkPolicy.* must be removed/);
    assert.deepEqual([policiesOf(sandbox), sandbox.deleted], [names, []]);
    await wholeBack(sandbox, folder);
    await assertEnd(sandbox, 'back');
  });

  it('are not put back while the new API server still answers', async () => {
    const sandbox = await upgraded(folder);
    assertDone(await rollBack(sandbox, OFF, folder), 'off');
    const early = await rollBack(sandbox, BACK, folder);
    assert.notEqual(early.exit, 'done');
    assert.ok(
      Object.values(sandbox.graph()).every((all) => all.every((one) => !one.startsWith('netsvc.io '))),
      JSON.stringify(sandbox.graph()),
    );
    sandbox.downgrade();
    assertDone(await rollBack(sandbox, BACK, folder), 'back');
    await assertEnd(sandbox, 'back');
  });

  const seed = seedOf(process.env, 20261128);
  it(`come to the same end at ${SAMPLE} faults (SEED=${seed})`, async () => {
    const clean = await upgraded(folder);
    const { cluster, requests } = faultyCluster(clean.cluster, clean.scenario, { lists: new Map() });
    await wholeBack(clean, folder, { cluster });
    const points: readonly LineFault[] = faultPoints(requests).filter(({ at }) => !isRead(requests[at - 1] ?? ''));
    for (const fault of sampled(points, SAMPLE, seed)) {
      const sandbox = await upgraded(folder);
      const where = `${fault.type} at request ${fault.at} (${requests[fault.at - 1]})`;
      const bad = faultyCluster(sandbox.cluster, sandbox.scenario, { fault, lists: new Map() });
      await wholeBack(sandbox, folder, { cluster: bad.cluster }).catch(() => undefined);
      sandbox.scenario.cluster.faults.killed = false;
      await wholeBack(sandbox, folder);
      assert.deepEqual([sandbox.deleted, sandbox.graph()], [[], sandbox.wanted], where);
      assert.ok(
        policiesOf(sandbox).every((name) => plainName(name) !== name),
        where,
      );
    }
  });
});
