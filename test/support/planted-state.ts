import { journalStore } from '../../src/adapters/journal/journal.ts';
import { STATE_TYPE } from '../../src/adapters/state/ledger.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import { STATE_NAMESPACE } from '../../src/kernel/run-record.ts';
import { RECORD, upgradeTo } from '../fixtures/stored-record.ts';
import { installedSandbox } from './sandbox-ports.ts';
import { journalIn, recordsIn } from './state.ts';

const FORGED = {
  ...{ runId: '20200101T000000Z-forged00', intent: upgradeTo('v3.31.0', 'v3.26.4'), accepted: ['NS-009'], wrote: ['apply'] },
  ...{ startedAt: '2020-01-01T00:00:00.000Z', startedBy: 'forged', flags: ['--manifest-url=https://evil.example', '--accept=NS-009'] },
  ...{ stripped: { objects: 7, references: 9, parts: [] } },
};

/** The state of an unfinished run on this cluster, made by the program's own code in another one. */
async function forgedState(clusterUid: string): Promise<readonly KubeObject[]> {
  const { cluster } = await installedSandbox({ cli: false });
  const records = recordsIn(cluster);
  await records.keep(`${FORGED.runId}/report/1`, { kind: 'RunReport', findings: [], plans: [], stages: [], suggestions: ['forged'] });
  await records.save({ ...RECORD, clusterUid, ...FORGED });
  await journalStore({
    place: journalIn(cluster),
    form: async () => ownerEntries,
    clusterUid,
    profile: 'netsvc',
    runId: FORGED.runId,
  }).append([
    {
      object: { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', name: 'forged', uid: 'forged' },
      references: [{ apiVersion: 'v1', kind: 'Node', name: 'node-01', uid: 'gone' }],
      removed: [0],
      owners: [{ place: 0, group: 'netsvc.io', kind: 'NetworkSet', name: 'node-01' }],
    },
  ]);
  const secrets = await cluster.list(K.Secret, { namespace: STATE_NAMESPACE });
  return secrets.filter((one) => one.type === STATE_TYPE);
}

/** As helm stores a release, of the names that releases of the service have. */
const forgedReleases: readonly KubeObject[] = ['calico', 'tigera-operator', 'netsvc', 'rke2-calico'].map((name) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', type: 'helm.sh/release.v1', data: { release: Buffer.from('forged').toString('base64') } },
  metadata: { name: `sh.helm.release.v1.${name}.v9`, labels: { owner: 'helm', name, version: '9', status: 'deployed' } },
}));

/** Puts a forged state, forged releases of charts and these Secrets into each of these namespaces. */
export async function plantState(
  on: Pick<Cluster, 'create'>,
  clusterUid: string,
  namespaces: readonly string[],
  more: readonly KubeObject[] = [],
): Promise<number> {
  const secrets = [...(await forgedState(clusterUid)), ...forgedReleases, ...more];
  for (const namespace of namespaces)
    for (const { apiVersion, kind, metadata, type, data } of secrets) {
      const { name, labels } = metadata;
      await on.create(K.Secret, {
        apiVersion,
        kind,
        type,
        data,
        metadata: { name, namespace, ...(labels ? { labels } : {}) },
      } as KubeObject);
    }
  return secrets.length * namespaces.length;
}
