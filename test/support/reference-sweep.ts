import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { journalMaps } from '../../src/adapters/journal/maps.ts';
import { ownerJournal } from '../../src/adapters/journal/owner-journal.ts';
import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { Fault } from '../../src/core/fault.ts';
import type { OwnerReference } from '../../src/core/object.ts';
import { sameReference } from '../../src/core/owner-journal.ts';
import { ApiFailure, type OwnerJournalStore } from '../../src/core/ports.ts';
import type { ChainOutcome } from '../../src/engine/chain-outcome.ts';
import { aggregate } from '../control-plane/aggregation.ts';
import { ApiError } from '../control-plane/api.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { type FaultPoint, isAmong } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';
import { GROUP, makeOwnedObjects } from './owned-objects.ts';
import { type OwnerGraph, readOwnerGraph } from './owner-graph.ts';
import { restoreWork, stripWork } from './owner-work.ts';
import { manifestFile } from './shared.ts';
import { patchesTooEarly } from './write-order.ts';

/** Owned objects on a real control plane whose references come off and go back, once for each fault. */
export interface ReferenceGround {
  /** Off and back again without any fault: its requests. */
  readonly clean: readonly LoggedRequest[];
  /** Off and back again with the fault on the way and one more try of whatever it struck. False if it was never reached. */
  sweep(point: FaultPoint): Promise<boolean>;
  stop(): Promise<void>;
}

const DEPENDENTS = 10;

/** A control plane and a proxy of their own, which end after so many minutes whatever happens. */
export async function referenceGround({ maxMinutes }: { readonly maxMinutes: number }): Promise<ReferenceGround> {
  const plane = await startControlPlane({ maxMinutes });
  try {
    return await populated(plane, maxMinutes);
  } catch (thrown) {
    await plane.stop();
    throw thrown;
  }
}

async function populated(plane: ControlPlane, maxMinutes: number): Promise<ReferenceGround> {
  await plane.kubectl(['apply', '--server-side', '-f', manifestFile('v3.26.5', 'calico.yaml')]);
  const served = await aggregate(plane, GROUP);
  const proxy = await startFaultProxy({ behind: plane.access, kubeconfigPath: join(plane.dir, 'proxy.kubeconfig'), maxMinutes });
  const stop = async () => {
    await proxy.stop();
    await served.stop();
    await plane.stop();
  };
  try {
    await makeOwnedObjects(plane.api, DEPENDENTS);
    await collectorStartsAnew(plane);
    return { ...(await swept(plane, proxy)), stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

const WORKS = [stripWork, restoreWork] as const;

async function swept(plane: ControlPlane, proxy: FaultProxy): Promise<Omit<ReferenceGround, 'stop'>> {
  const first = await readOwnerGraph(plane.api);
  const around = { home: join(plane.dir, 'home'), kubeconfig: proxy.kubeconfigPath, kubectl: plane.programs.kubectl };
  await mkdir(around.home, { recursive: true });
  const direct = <T>(act: (journal: OwnerJournalStore) => Promise<T>) => withJournal(plane.kubeconfigPath, act);
  /** Everything back, the journal and the run's record gone: the next fault meets what the first one met. */
  const asBefore = async (where: string) => {
    assert.deepEqual(await readOwnerGraph(plane.api), first, where);
    await direct((journal) => journal.forget());
    for (const path of TRACES) await plane.api.send('DELETE', path).catch(unlessGone);
  };
  for (const work of WORKS) assertDone(await work.perform(around), `${work.name} without a fault`);
  const clean = [...proxy.requests];
  assert.deepEqual(patchesTooEarly(clean), []);
  await asBefore('without a fault');
  return {
    clean,
    async sweep(point) {
      proxy.arm({ kind: point.kind, nth: point.nth, matches: (request) => isAmong(point.among, request) });
      const from = proxy.requests.length;
      let struck: LoggedRequest | undefined;
      for (const work of WORKS) {
        const where = `${pointText(point)}, ${work.name}`;
        const isDone = await work.perform(around).then(({ exit }) => exit === 'done', expected);
        await direct((journal) => assertRecorded(plane, journal, first, where));
        if (isDone && work === stripWork) continue;
        struck ??= proxy.disarm();
        assertDone(await work.perform(around), `${where}: ${struck?.method} ${struck?.path}`);
      }
      assert.deepEqual(patchesTooEarly(proxy.requests.slice(from)), [], pointText(point));
      await asBefore(`${pointText(point)}: ${struck?.method} ${struck?.path}`);
      return struck !== undefined;
    },
  };
}

const TRACES = [
  '/api/v1/namespaces/kube-system/configmaps/netsvc-upgrade-run',
  '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/netsvc-upgrade',
];

function unlessGone(thrown: unknown): void {
  if (!(thrown instanceof ApiError) || thrown.status !== 404) throw thrown;
}

function assertDone({ exit, message, findings }: ChainOutcome, where: string): void {
  const open = findings.filter(({ outcome }) => outcome === 'error').map(({ id, message: why }) => `${id} ${why}`);
  assert.equal(exit, 'done', `${where}: ${message ?? ''} ${open.join('; ')}`);
}

async function withJournal<T>(kubeconfig: string, act: (journal: OwnerJournalStore) => Promise<T>): Promise<T> {
  const cluster = openCluster(await readConnection({ kubeconfig }, process.env), { version: 'test' });
  try {
    const clusterUid = await cluster.clusterUid();
    return await act(ownerJournal({ place: journalMaps(cluster, 'kube-system'), clusterUid, profile: 'calico', runId: 'sweep' }));
  } finally {
    await cluster.close();
  }
}

/** A refusal, an answer that never came, or a person's next step; anything else is a defect. */
function expected(thrown: unknown): boolean {
  if (thrown instanceof ApiFailure || thrown instanceof Fault) return false;
  throw thrown;
}

/** At no moment does an object lack a reference that no stored record holds. */
async function assertRecorded(plane: ControlPlane, journal: OwnerJournalStore, first: OwnerGraph, where: string): Promise<void> {
  const present = await readOwnerGraph(plane.api);
  const { entries = [] } = (await journal.load()) ?? {};
  const recorded = new Map<string, readonly OwnerReference[]>(entries.map(({ object, references }) => [object.uid, references]));
  for (const [key, references] of Object.entries(first)) {
    const kept = present[key];
    assert.ok(kept, `${where}: ${key} is gone`);
    const missing = references.filter((one) => !kept.some((other) => sameReference(one, other)));
    const held = recorded.get(key.split(' ').at(-1) ?? '') ?? [];
    for (const one of missing)
      assert.ok(
        held.some((other) => sameReference(one, other)),
        `${where}: no record of ${one.name} of ${key}`,
      );
  }
}
