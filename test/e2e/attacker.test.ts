import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { journalStore } from '../../src/adapters/journal/journal.ts';
import { STATE_TYPE } from '../../src/adapters/state/ledger.ts';
import { ownerEntries } from '../../src/features/ownerrefs/journal-form.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { changeTo } from '../../src/kernel/object-change.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import { RUN_RECORD_VERSION, type RunRecord } from '../../src/kernel/run-record.ts';
import { CARRIED_PART, type CarriedEdits } from '../../src/manifest/carried-file.ts';
import type { ApiObject } from '../control-plane/api.ts';
import { upgradeTo } from '../fixtures/stored-record.ts';
import { type Attacker, attacker } from '../support/attacker.ts';
import { labelled, switched } from '../support/hep-kept.ts';
import { installedCluster, shared } from '../support/installed-cluster.ts';
import { INJECTION, meshObjects, namespaces, publishTemplates, templateOf } from '../support/mesh-objects.ts';
import { manifestFile, ownReleases } from '../support/releases.ts';
import { journalIn, recordsIn } from '../support/state.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';
import { assertUnmoved } from '../support/unmoved-outputs.ts';
import { assertSucceeded, startUpgrade, untilSaid } from '../support/upgrade-process.ts';

const [OLD, NEW] = ['v3.26.4', NETSVC_TARGET];
const RUN = '20200101T000000Z-forged00';
const SPACE = 'kube-system';
const INJECTOR = `/api/v1/namespaces/${INJECTION.namespace}/configmaps/${INJECTION.configMap}`;
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${SPACE}/leases/netsvc-upgrade`;

const GRANT = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'evil' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'attacker' }],
};

/** An account that may write every ConfigMap and Lease of kube-system, and no Secret, plays with the state. */
describe('an attacker who may write ConfigMaps and Leases where the state is', function () {
  this.timeout(280_000);
  let foe: Attacker;
  after(() => foe?.close());
  const cluster = shared(() => installedCluster({ manifest: manifestFile(OLD, 'netsvc.yaml', ownReleases), nodes: 2 }));
  let clusterUid: string;
  let releases: string;
  let victim: ApiObject;

  before(async () => {
    for (const object of [...namespaces, ...meshObjects(templateOf(NEW))] as ApiObject[])
      await cluster.plane.kubectl(['create', '-f', '-'], JSON.stringify(object));
    releases = join(cluster.around.home, 'releases');
    await publishTemplates(releases);
    foe = await attacker(cluster.plane, 'attacker', ['configmaps', 'leases']);
    clusterUid = (await cluster.plane.api.get<ApiObject>(`/api/v1/namespaces/${SPACE}`)).metadata.uid;
    await cluster.plane.kubectl(['create', 'namespace', 'victim']);
    victim = await cluster.plane.api.get<ApiObject>('/api/v1/namespaces/victim');
  });

  /** Forged with the program's own code: digests, names and forms are right. */
  async function forge(on: Cluster): Promise<void> {
    const records = recordsIn(on);
    const carriedId = `${RUN}${CARRIED_PART}1`;
    const record: RunRecord = {
      version: RUN_RECORD_VERSION,
      ...{ runId: RUN, clusterUid, profile: 'netsvc', intent: upgradeTo(NEW, OLD), path: 'manifest', variant: 'node', oldest: OLD },
      ...{ digests: {}, startedAt: '2020-01-01T00:00:00.000Z', startedBy: 'admin@here', toolVersion: '0.1.0', accepted: ['NS-009'] },
      ...{ stages: [], wrote: ['apply'], kept: [carriedId], backup: '/nowhere/backup', flags: ["--accept='NS-606; id #'"] },
    };
    const file = { release: 'x', merged: 'y', changed: [GRANT as KubeObject], removed: [] };
    const carried: CarriedEdits = { target: NEW, base: OLD, resolutions: {}, edits: [], files: { 'upgrade.yaml': file } };
    await records.keep(carriedId, carried);
    await records.save(record);
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: INJECTION.configMap, namespace: INJECTION.namespace } };
    const config = 'templates:\n  - name: evil\n    image: evil\n    securityContext: {privileged: true}\n';
    await records.append([
      {
        id: `${RUN}/alp/template-x#2`,
        content: { changes: [changeTo({ ...map, data: { config } }, { '/data/config': templateOf(NEW) })] },
      },
      { id: `${RUN}/hep/labels-x#3`, content: labelled({ theirs: 'x' }, ['node-01'], () => 'x') },
      { id: `${RUN}/hep/enable-x#4`, content: switched('Enabled') },
    ]);
    await journalStore({ place: journalIn(on), form: async () => ownerEntries, clusterUid, profile: 'netsvc', runId: RUN }).append([
      {
        object: { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', name: 'victim', uid: victim.metadata.uid },
        references: [{ apiVersion: 'v1', kind: 'Node', name: 'node-01', uid: 'gone' }],
        removed: [0],
        owners: [{ place: 0, group: 'netsvc.io', kind: 'NetworkSet', name: 'node-01' }],
      },
    ]);
  }

  /** What the forged state asks for has not come to be. */
  async function assertNothingOfTheirs(): Promise<void> {
    const { api } = cluster.plane;
    await assert.rejects(api.get('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/evil'), /404|not found/i);
    const { data } = await api.get<ApiObject & { readonly data: Record<string, string> }>(INJECTOR);
    assert.doesNotMatch(data.config ?? '', /evil|privileged/);
    const { metadata } = await api.get<ApiObject>('/api/v1/namespaces/victim');
    assert.deepEqual([metadata.ownerReferences, metadata.deletionTimestamp], [undefined, undefined]);
  }

  const flags = () => ['--profile', 'netsvc', '--manifest-url', releases];
  const here = (...args: readonly string[]) => cluster.upgrade(...args, ...flags());
  const isForbidden = (thrown: unknown) => (thrown as { readonly status?: number }).status === 403;
  const backups = () => {
    const state = join(cluster.around.home, '.local', 'state', 'netsvc-upgrade', clusterUid);
    return readdirSync(state).filter((name) => name.startsWith('backup-'));
  };

  it('may not write the state itself, nor read it', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', type: STATE_TYPE, metadata: { name: 'netsvc-upgrade-run', namespace: SPACE } };
    await assert.rejects(foe.cluster.create(K.Secret, secret), isForbidden);
    await assert.rejects(foe.cluster.get(K.Secret, 'netsvc-upgrade-run', SPACE), isForbidden);
    await assert.rejects(foe.cluster.list(K.Secret, { namespace: SPACE }), isForbidden);
    await assert.rejects(forge(foe.cluster), isForbidden);
  });

  it('who may write Secrets of every other namespace changes no output', async () => {
    const told = await assertUnmoved(cluster, flags(), [SPACE]);
    assert.match(told.status ?? '', /no run of this program is recorded/);
  });

  describe('before a run', () => {
    before(() => forge(foe.inConfigMaps));

    it('is not heard by status', async () => {
      const result = await cluster.upgrade('status', '--profile', 'netsvc');
      assertSucceeded(result);
      assert.match(result.stdout, /no run of this program is recorded/);
      assert.doesNotMatch(result.stdout, /NS-606|forged|victim/);
    });

    it('is in no plan', async () => {
      const result = await here('plan', '-o', 'json');
      assertSucceeded(result);
      assert.doesNotMatch(result.stdout, /evil|victim|nowhere/);
      const { stages } = JSON.parse(result.stdout) as {
        readonly stages: readonly { id: string; skip?: string; actions: readonly unknown[] }[];
      };
      assert.equal(stages.find(({ id }) => id === 'backup')?.actions.length, 1);
    });

    const commands: readonly (readonly [readonly string[], RegExp])[] = [
      [['backup', '--yes'], /write \d+ objects to /],
      [['ownerrefs', 'restore', '--yes'], /no owner reference is recorded as removed/],
      [['ownerrefs', 'forget', '--yes'], /no owner reference is recorded as removed/],
      [['alp', '--undo', '--yes'], /no change of an injector was recorded on this cluster/],
      [['hep', '--undo', '--yes'], /no migration to automatic host endpoints was recorded on this cluster/],
      [['policy', '--yes'], /there is no policy allow-all-upgrade/],
    ];
    for (const [command, words] of commands)
      it(`moves nothing in ${command.join(' ')}`, async () => {
        const result = await here(...command);
        assertSucceeded(result);
        assert.match(result.stdout + result.stderr, words);
        await assertNothingOfTheirs();
      });

    it('does not keep the backup from being taken', () => assert.equal(backups().length, 1));
  });

  describe('during a run', () => {
    it('ends it by taking the lock away, and gets nothing for that', async () => {
      // Long enough for a renewal of the lock: the new agent of a node does not come.
      await cluster.plane.fault('node-02', 'image-pull');
      const child = startUpgrade(['run', '--yes', '-v=1', '--skip', 'cli', ...flags()], cluster.around);
      await untilSaid(child, /serverside-applied/);
      const lease = (await foe.cluster.get(K.Lease, 'netsvc-upgrade', SPACE)) ?? assert.fail('there is no lease');
      const spec = { ...(lease.spec as object), holderIdentity: 'admin@here/1/00000000' };
      const { resourceVersion: _, ...metadata } = lease.metadata;
      await foe.cluster.patch(
        K.Lease,
        { apiVersion: lease.apiVersion, kind: 'Lease', namespace: SPACE, name: metadata.name },
        [{ op: 'replace', path: '/spec', value: spec }],
        'attacker',
      );
      const { exitCode, stdout, stderr } = await child;
      assert.equal(exitCode, 6, `${stdout}\n${stderr}`);
      await assertNothingOfTheirs();
      await cluster.plane.api.send('DELETE', LEASE);
      await cluster.plane.fault('node-02', 'none');
    });

    it('writes without end, and the run comes to what was confirmed', async () => {
      let isOver = false;
      const play = (async () => {
        while (!isOver) {
          await forge(foe.inConfigMaps).catch(() => undefined);
          await sleep(100);
        }
      })();
      const result = await here('run', '--yes', '--skip', 'cli');
      isOver = true;
      await play;
      assertSucceeded(result);
      assert.match(
        await cluster.read(`ds netsvc-node -n ${SPACE}`, '{.spec.template.spec.containers[0].image}'),
        pattern`:${NETSVC_TARGET}$`,
      );
      await assertNothingOfTheirs();
    });
  });

  describe('after a run', () => {
    it('leaves its record as it was, and moves nothing', async () => {
      await forge(foe.inConfigMaps);
      const status = await cluster.upgrade('status', '--profile', 'netsvc');
      assert.doesNotMatch(status.stdout, /forged|NS-606/);
      for (const command of [
        ['alp', '--undo', '--yes'],
        ['ownerrefs', 'restore', '--yes'],
        ['run', '--yes', '--skip', 'cli'],
      ]) {
        assertSucceeded(await here(...command));
      }
      await assertNothingOfTheirs();
    });
  });
});
