import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type OpenCluster, openCluster } from '../../src/adapters/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig.ts';
import { ownerJournal } from '../../src/adapters/owner-journal.ts';
import { journalMaps } from '../../src/adapters/owner-journal-maps.ts';
import { Fault } from '../../src/core/fault.ts';
import type { OwnerReference } from '../../src/core/object.ts';
import { sameReference } from '../../src/core/owner-journal.ts';
import { ApiFailure, type OwnerJournalStore } from '../../src/core/ports.ts';
import { calico } from '../../src/profiles/calico.ts';
import { aggregate } from '../control-plane/aggregation.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { type FaultProxy, startFaultProxy } from '../control-plane/fault-proxy.ts';
import type { LoggedRequest } from '../control-plane/proxy-log.ts';
import { collectorSettles } from './collector-settles.ts';
import { type FaultPoint, isAmong } from './fault-points.ts';
import { pointText } from './fault-sweep.ts';
import { GROUP, makeOwnedObjects } from './owned-objects.ts';
import { type OwnerGraph, readOwnerGraph } from './owner-graph.ts';
import { restoreByParts, stripByParts } from './procedure-g.ts';
import { manifestFile } from './shared.ts';

/** Owned objects on a real control plane whose references come off and go back, once for each fault. */
export interface ReferenceGround {
  /** Off and back again without any fault: its requests. */
  readonly clean: readonly LoggedRequest[];
  /** Off and back again with the fault on the way and one more try of whatever it struck. False if it was never reached. */
  sweep(point: FaultPoint): Promise<boolean>;
  stop(): Promise<void>;
}

const DEPENDENTS = 10;
type Work = (cluster: OpenCluster, journal: OwnerJournalStore) => Promise<unknown>;
const strip: Work = (cluster, journal) => stripByParts(cluster, journal, calico);
const restore: Work = (cluster, journal) => restoreByParts(cluster, journal, calico);

export async function referenceGround(): Promise<ReferenceGround> {
  const plane = await startControlPlane({ maxMinutes: 60 });
  try {
    return await populated(plane);
  } catch (thrown) {
    await plane.stop();
    throw thrown;
  }
}

async function populated(plane: ControlPlane): Promise<ReferenceGround> {
  await plane.kubectl(['apply', '--server-side', '-f', manifestFile('v3.26.5', 'crds.yaml')]);
  const served = await aggregate(plane, GROUP);
  const proxy = await startFaultProxy({ behind: plane.access, kubeconfigPath: join(plane.dir, 'proxy.kubeconfig'), maxMinutes: 60 });
  const stop = async () => {
    await proxy.stop();
    await served.stop();
    await plane.stop();
  };
  try {
    await makeOwnedObjects(plane.api, DEPENDENTS);
    await plane.restartControllerManager();
    await collectorSettles(plane.api);
    return { ...(await swept(plane, proxy)), stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function swept(plane: ControlPlane, proxy: FaultProxy): Promise<Omit<ReferenceGround, 'stop'>> {
  const first = await readOwnerGraph(plane.api);
  const direct = <T>(act: (cluster: OpenCluster, journal: OwnerJournalStore) => Promise<T>) => withCluster(plane.kubeconfigPath, act);
  const proxied = (work: Work) => withCluster(proxy.kubeconfigPath, work);
  /** Everything back and the journal gone: the next fault meets what the first one met. */
  const asBefore = async (where: string) => {
    assert.deepEqual(await readOwnerGraph(plane.api), first, where);
    await direct((_, journal) => journal.forget());
  };
  await proxied(strip);
  await proxied(restore);
  const clean = [...proxy.requests];
  assertJournalFirst(clean);
  await asBefore('without a fault');
  return {
    clean,
    async sweep(point) {
      proxy.arm({ kind: point.kind, nth: point.nth, matches: (request) => isAmong(point.among, request) });
      let struck: LoggedRequest | undefined;
      for (const work of [strip, restore]) {
        const failed = await proxied(work).then(() => undefined, expected);
        await direct((_, journal) => assertRecorded(plane, journal, first, `${pointText(point)}, ${work === strip ? 'strip' : 'restore'}`));
        if (failed === undefined && work === strip) continue;
        struck ??= proxy.disarm();
        await proxied(work);
      }
      await asBefore(`${pointText(point)}: ${struck?.method} ${struck?.path}`);
      return struck !== undefined;
    },
  };
}

async function withCluster<T>(kubeconfig: string, act: (cluster: OpenCluster, journal: OwnerJournalStore) => Promise<T>): Promise<T> {
  const cluster = openCluster(await readConnection({ kubeconfig }, process.env), { version: 'test' });
  try {
    const clusterUid = await cluster.clusterUid();
    return await act(cluster, ownerJournal({ place: journalMaps(cluster, 'kube-system'), clusterUid, profile: 'calico', runId: 'sweep' }));
  } finally {
    await cluster.close();
  }
}

/** A refusal, an answer that never came, or a person's next step; anything else is a defect. */
function expected(thrown: unknown): unknown {
  if (thrown instanceof ApiFailure || thrown instanceof Fault) return thrown;
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

/** Every patch of a run came after the journal's head was acknowledged. */
function assertJournalFirst(requests: readonly LoggedRequest[]): void {
  const head = requests.find(({ method, path }) => method === 'PUT' && path.includes('/configmaps/netsvc-upgrade-owners'));
  const patches = requests.filter(({ method }) => method === 'PATCH');
  assert.ok(head?.answeredAt !== undefined && patches.length > 0);
  for (const { arrivedAt, path } of patches) assert.ok(arrivedAt > head.answeredAt, `${path} came before its record`);
}
