import assert from 'node:assert/strict';
import { ownerJournal } from '../../src/adapters/journal/owner-journal.ts';
import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import type { OwnerReference } from '../../src/kernel/object.ts';
import { sameReference } from '../../src/kernel/owner-journal.ts';
import type { OwnerJournalStore } from '../../src/kernel/ports.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type OwnerGraph, readOwnerGraphAsOf } from './owner-graph.ts';
import { journalIn } from './state.ts';

/** The journal in a cluster, read and written past the program. */
export async function withJournal<T>(kubeconfig: string, act: (journal: OwnerJournalStore) => Promise<T>): Promise<T> {
  const cluster = openCluster(await readConnection({ kubeconfig }, process.env), { version: 'test' });
  try {
    const clusterUid = await cluster.clusterUid();
    return await act(ownerJournal({ place: journalIn(cluster, 'kube-system'), clusterUid, profile: 'calico', runId: 'sweep' }));
  } finally {
    await cluster.close();
  }
}

/**
 * At no moment does an object lack a reference that no stored record holds. The record is read before the objects: what is stored later
 * does not count for what was gone already. A reference is there as it was in `first`, or as it goes back: at the same place of `anew`.
 * Resolves to how many objects lack some.
 */
export async function assertRecorded(
  { api, kubeconfigPath }: ControlPlane,
  first: OwnerGraph,
  where: string,
  anew: OwnerGraph = first,
): Promise<number> {
  const { entries = [] } = (await withJournal(kubeconfigPath, (journal) => journal.load())) ?? {};
  const recorded = new Map<string, readonly OwnerReference[]>(entries.map(({ object, references }) => [object.uid, references]));
  const present = await readOwnerGraphAsOf(api, first);
  let lacking = 0;
  for (const [key, references] of Object.entries(first)) {
    const kept = present[key];
    assert.ok(kept, `${where}: ${key} is gone`);
    const isThere = (one: OwnerReference | undefined) => one !== undefined && kept.some((other) => sameReference(one, other));
    const missing = references.filter((one, index) => !isThere(one) && !isThere(anew[key]?.[index]));
    const held = recorded.get(key.split(' ').at(-1) ?? '') ?? [];
    for (const one of missing)
      assert.ok(
        held.some((other) => sameReference(one, other)),
        `${where}: no record of ${one.name} of ${key}`,
      );
    if (missing.length > 0) lacking += 1;
  }
  return lacking;
}
