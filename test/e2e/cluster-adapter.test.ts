import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type OpenCluster, openCluster } from '../../src/adapters/kube/cluster.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { leaseLock } from '../../src/adapters/lock/lock.ts';
import { Fault } from '../../src/kernel/fault.ts';
import { K } from '../../src/kernel/kinds.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { until } from '../control-plane/until.ts';
import { RECORD } from '../fixtures/stored-record.ts';
import { recordsIn } from '../support/state.ts';

const map = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});

const refOf = (name: string, uid?: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'default',
  name,
  ...(uid ? { uid } : {}),
});

describe('the adapters on a real control plane', function () {
  this.timeout(60_000);
  let plane: ControlPlane;
  let cluster: OpenCluster;
  const warnings: string[] = [];

  const connect = async (flags = {}) =>
    openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath, ...flags }, process.env), {
      version: 'test',
      pageSize: 2,
      warn: (text) => warnings.push(text),
    });

  before(async function () {
    this.timeout(600_000);
    plane = await startControlPlane();
    cluster = await connect();
  });
  after(async () => {
    await cluster?.close();
    await plane?.stop();
  });

  it('tells version, clock and identity as kubectl does', async () => {
    const said = JSON.parse((await plane.kubectl(['get', 'namespace', 'kube-system', '-o', 'json'])).stdout);
    assert.equal(await cluster.clusterUid(), said.metadata.uid);
    assert.match((await cluster.version()).gitVersion, /^v1\.\d+/);
    assert.ok(Math.abs(await cluster.clockSkewMs()) < 2000);
  });

  it('discovers what kubectl api-resources lists', async () => {
    const { kinds, failed } = await cluster.discover();
    const listed = (await plane.kubectl(['api-resources', '-o', 'name', '--no-headers'])).stdout.trim().split('\n').sort();
    assert.deepEqual(failed, []);
    assert.deepEqual(kinds.map(({ plural, group }) => (group ? `${plural}.${group}` : plural)).sort(), listed);
    assert.deepEqual(await cluster.resolve('apps/v1', 'DaemonSet'), K.DaemonSet);
    assert.equal(await cluster.resolve('apps/v1', 'Nothing'), undefined);
    assert.equal(await cluster.resolve('nothing.example/v1', 'Nothing'), undefined);
  });

  it('lists over pages, whole and as metadata', async () => {
    for (let index = 0; index < 5; index += 1) await cluster.create(K.ConfigMap, map(`page-${index}`, { key: 'value' }));
    const options = { namespace: 'default', fieldSelector: 'metadata.name!=kube-root-ca.crt' };
    const whole = await cluster.list(K.ConfigMap, options);
    assert.deepEqual(
      whole.map(({ metadata, kind }) => `${kind}/${metadata.name}`),
      [0, 1, 2, 3, 4].map((index) => `ConfigMap/page-${index}`),
    );
    const [first] = await cluster.list(K.ConfigMap, { ...options, metadataOnly: true });
    assert.deepEqual([first?.kind, first?.data, typeof first?.metadata.uid], ['ConfigMap', undefined, 'string']);
  });

  it('shows what an apply would store and stores nothing', async () => {
    const before = await cluster.get(K.ConfigMap, 'page-0', 'default');
    const result = await cluster.dryRunApply(K.ConfigMap, map('page-0', { key: 'other', more: 'x' }), 'kubectl');
    assert.deepEqual(result.data, { key: 'other', more: 'x' });
    assert.deepEqual(await cluster.get(K.ConfigMap, 'page-0', 'default'), before);
    assert.equal((await cluster.dryRunCreate(K.ConfigMap, map('never'))).metadata.name, 'never');
    const patched = await cluster.dryRunPatch(K.ConfigMap, refOf('page-0'), [{ op: 'replace', path: '/data/key', value: 'p' }], 'kubectl');
    assert.deepEqual(patched.data, { key: 'p' });
    assert.equal(await cluster.get(K.ConfigMap, 'never', 'default'), undefined);
  });

  it('keeps what the server says of an invalid document', async () => {
    const spec = { selector: { matchLabels: { a: 'b' } }, template: { metadata: { labels: { a: 'c' } }, spec: { containers: [] } } };
    const document = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'bad', namespace: 'default' }, spec };
    await assert.rejects(cluster.dryRunApply(K.DaemonSet, document, 'kubectl'), (thrown) => {
      assert.ok(thrown instanceof ApiFailure);
      assert.deepEqual([thrown.status, thrown.reason], [422, 'Invalid']);
      return thrown.causes.some(({ field }) => field === 'spec.template.metadata.labels');
    });
    const unknown = { ...map('bad'), nonsense: true };
    await assert.rejects(cluster.dryRunApply(K.ConfigMap, unknown, 'kubectl'), /field not declared in schema/);
  });

  it('watches: a snapshot, a change, a removal', async () => {
    const stop = new AbortController();
    const told: string[] = [];
    for await (const update of cluster.watch(K.ConfigMap, {
      namespace: 'default',
      fieldSelector: 'metadata.name=watched',
      signal: stop.signal,
    })) {
      told.push(update.type === 'snapshot' ? `snapshot ${update.items.length}` : `${update.type} ${update.object.metadata.name}`);
      if (told.length === 1) await cluster.create(K.ConfigMap, map('watched'));
      else if (told.length === 2) await cluster.remove(K.ConfigMap, refOf('watched'));
      else stop.abort();
    }
    assert.deepEqual(told, ['snapshot 0', 'changed watched', 'deleted watched']);
  });

  it('patches the instance that was seen, and no other of the same name', async () => {
    const seen = await cluster.get(K.ConfigMap, 'page-1', 'default');
    const patch = [{ op: 'add', path: '/data/patched', value: 'yes' }] as const;
    await assert.rejects(cluster.patch(K.ConfigMap, refOf('page-1', 'other-uid'), patch, 'kubectl-patch'), { status: 422 });
    await cluster.patch(K.ConfigMap, refOf('page-1', seen?.metadata.uid), patch, 'kubectl-patch');
    const patched = await cluster.get(K.ConfigMap, 'page-1', 'default');
    assert.deepEqual(patched?.data, { key: 'value', patched: 'yes' });
    if (seen) await assert.rejects(cluster.replace(K.ConfigMap, seen), { status: 409 });
  });

  it('acts with the rights of the impersonated user and groups', async () => {
    const access = [{ verb: 'get', group: '', resource: 'secrets', namespace: 'default' }];
    assert.deepEqual(await cluster.reviewAccess(access), [true]);
    const nobody = await connect({ as: 'nobody' });
    assert.deepEqual(await nobody.reviewAccess(access), [false]);
    await assert.rejects(nobody.list(K.Node), { status: 403, reason: 'Forbidden' });
    await assert.rejects(
      nobody.clusterUid(),
      (thrown) => thrown instanceof Fault && /"nobody" \(impersonated\) may not/.test(thrown.message),
    );
    const master = await connect({ as: 'somebody', 'as-group': ['other', 'system:masters'] });
    assert.deepEqual(await master.reviewAccess(access), [true]);
    await Promise.all([nobody.close(), master.close()]);
  });

  it('counts no rule of one namespace for others', async () => {
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };
    const binding = { kind: 'RoleBinding', plural: 'rolebindings', namespaced: true, ...rbac };
    const roleRef = { apiGroup: rbac.group, kind: 'ClusterRole' };
    const subjects = [{ apiGroup: rbac.group, kind: 'User', name: 'local' }];
    const apiVersion = `${rbac.group}/${rbac.version}`;
    const bound = (name: string, role: string) => ({ apiVersion, metadata: { name }, subjects, roleRef: { ...roleRef, name: role } });
    await cluster.create(binding, { kind: 'RoleBinding', ...bound('here', 'cluster-admin') });
    const everywhere = { ...binding, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false };
    await cluster.create(everywhere, { kind: 'ClusterRoleBinding', ...bound('local-views', 'view') });
    const pods = { group: '', resource: 'pods' };
    const asked = [
      { verb: 'delete', ...pods, namespace: 'default' },
      { verb: 'delete', ...pods, namespace: 'kube-system' },
      { verb: 'list', ...pods },
      { verb: 'list', group: '', resource: 'nodes' },
      { verb: 'get', ...pods, subresource: 'log', namespace: 'kube-system' },
    ];
    const local = await connect({ as: 'local' });
    // The server's authorizer learns of bindings by watches of its own.
    await until('the bindings count', async () => (await local.reviewAccess(asked)).slice(0, 3).join() === 'true,false,true');
    assert.deepEqual(await local.reviewAccess(asked), [true, false, true, false, true]);
    assert.deepEqual(await cluster.reviewAccess(asked), [true, true, true, true, true]);
    await local.close();
  });

  it('says that a token is not accepted', async () => {
    const stranger = openCluster(
      { ...(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env)), user: { token: 'wrong' } },
      { version: 'test' },
    );
    await assert.rejects(stranger.clusterUid(), /does not accept the credentials/);
    await stranger.close();
  });

  it('locks: one holder, renewed and released on a real Lease', async () => {
    const clock = { now: () => new Date() };
    const lockOf = (identity: string, repeat?: (ms: number, task: () => void) => () => void) =>
      leaseLock({ cluster, clock, identity, ...(repeat ? { repeat } : {}) });
    let renew = () => {};
    const held = await lockOf('alice', (_ms, task) => {
      renew = task;
      return () => undefined;
    }).acquire();
    await assert.rejects(lockOf('bob').acquire(), (thrown) => thrown instanceof Fault && thrown.code === 'locked');
    renew();
    await held.release();
    assert.equal(await lockOf('bob').holder(), undefined);
    const second = await lockOf('bob').acquire();
    assert.equal((await lockOf('carol').breakLock('bob'))?.identity, 'bob');
    await second.release();
  });

  it('records a run and more than one Secret can hold', async () => {
    const records = recordsIn(cluster);
    const record: RunRecord = { ...RECORD, clusterUid: await cluster.clusterUid() };
    await records.save(record);
    const noise = randomBytes(1_600_000).toString('base64');
    await records.keep('big/item', noise);
    assert.deepEqual(await records.load(), record);
    assert.deepEqual(await records.kept('big/item'), noise);
    const names = (await cluster.list(K.Secret, { namespace: 'kube-system', fieldSelector: 'type=netsvc-upgrade/state' })).length;
    assert.ok(names >= 2, `${names} Secrets`);
  });

  it('refuses every write once kube-system is another one than confirmed', async () => {
    const pinned = await connect();
    pinned.pin('00000000-0000-0000-0000-000000000000');
    await assert.rejects(pinned.create(K.ConfigMap, map('wrong-cluster')), /another cluster than the one confirmed/);
    const patch = [{ op: 'add', path: '/data/patched', value: 'no' }] as const;
    const elsewhere = pinned.patch(K.ConfigMap, refOf('page-2', 'uid-of-the-confirmed-cluster'), patch, 'kubectl-patch');
    await assert.rejects(elsewhere, /another cluster than the one confirmed/);
    assert.deepEqual((await cluster.get(K.ConfigMap, 'page-2', 'default'))?.data, { key: 'value' });
    assert.equal(await cluster.get(K.ConfigMap, 'wrong-cluster', 'default'), undefined);
    const seenThere = { name: 'page-2', namespace: 'default', uid: 'uid-of-the-confirmed-cluster' };
    await assert.rejects(pinned.replace(K.ConfigMap, { ...map('page-2'), metadata: seenThere }), /another cluster than the one confirmed/);
    // A Lease is also made by being replaced: not one that is named by its UID.
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { ...seenThere, name: 'held-there' }, spec: {} };
    await assert.rejects(pinned.replace(K.Lease, lease), /another cluster than the one confirmed/);
    await assert.rejects(cluster.replace(K.Lease, lease), { status: 409 });
    assert.equal(await cluster.get(K.Lease, 'held-there', 'default'), undefined);
    assert.deepEqual((await cluster.get(K.ConfigMap, 'page-2', 'default'))?.data, { key: 'value' });
    pinned.pin(await pinned.clusterUid());
    await pinned.create(K.ConfigMap, map('right-cluster'));
    await pinned.close();
  });
});
