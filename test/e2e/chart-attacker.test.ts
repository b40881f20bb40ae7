import assert from 'node:assert/strict';
import { gunzipSync, gzipSync } from 'node:zlib';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { ApiObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type Attacker, attacker } from '../support/attacker.ts';
import { flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { assertUnmoved } from '../support/unmoved-outputs.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const FORGED = 'sh.helm.release.v1.calico.v99';
const OPERATOR = `deploy -n ${RELEASE_NAMESPACE} tigera-operator`;
const IMAGE = '{.spec.template.spec.containers[0].image}';

/** What helm stored, changed: a chart's release is public enough to be written by anybody who knows the chart. */
async function repacked({ api }: ControlPlane, name: string, version: number, changes: object) {
  const path = `/api/v1/namespaces/${RELEASE_NAMESPACE}/secrets/sh.helm.release.v1.calico.v1`;
  const { data } = await api.get<ApiObject & { readonly data: Readonly<Record<string, string>> }>(path);
  const stored = Buffer.from(Buffer.from(data.release ?? '', 'base64').toString(), 'base64');
  const release = JSON.parse(gunzipSync(stored).toString()) as Record<string, unknown>;
  const packed = gzipSync(JSON.stringify({ ...release, version, ...changes })).toString('base64');
  return [packed, { name, labels: { owner: 'helm', name: 'calico', version: `${version}`, status: 'deployed' } }] as const;
}

/** It writes a newer revision of the release beside helm's Secrets, with values of its own: they decide which operator runs, with all rights. */
describe('an attacker who may write ConfigMaps where the chart release is', function () {
  this.timeout(280_000);
  let foe: Attacker;
  after(() => foe?.close());
  const cluster = sharedChartCluster(3);
  before(async () => {
    foe = await attacker(cluster.plane, 'attacker', ['configmaps'], RELEASE_NAMESPACE);
  });

  const forged = async (): Promise<KubeObject> => {
    const [packed, metadata] = await repacked(cluster.plane, FORGED, 99, { config: { installation: { registry: 'evil.example.org/' } } });
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, namespace: RELEASE_NAMESPACE }, data: { release: packed } };
  };

  it('is not heard in Secrets of other namespaces, which look like an older record of this very release', async () => {
    const [packed, metadata] = await repacked(cluster.plane, 'sh.helm.release.v1.calico.v98', 98, {});
    const old = { apiVersion: 'v1', kind: 'Secret', metadata, data: { release: Buffer.from(packed).toString('base64') } };
    const told = await assertUnmoved(cluster, flagsOf(cluster), ['kube-system', RELEASE_NAMESPACE], [old]);
    assert.match(told.preflight ?? '', /√ NS-608 the chart release can be upgraded/);
  });

  it('stops the upgrade, which names the ConfigMap and writes nothing, with --yes and with the whole check accepted', async () => {
    await foe.cluster.create(K.ConfigMap, await forged());
    const before = await cluster.versions();
    for (const accept of [[], ['--accept', 'NS-247']]) {
      const result = await cluster.upgrade('apply', '--yes', ...flagsOf(cluster), ...accept);
      assert.equal(result.exitCode, 3, told(result));
      assert.match(told(result), /NS-247 .*configmap\/sh\.helm\.release\.v1\.calico\.v99/);
    }
    assert.equal(await cluster.versions(), before);
  });

  it('gets nothing of it into the release once it is deleted', async () => {
    await foe.cluster.remove(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', name: FORGED, namespace: RELEASE_NAMESPACE });
    assertSucceeded(await cluster.upgrade('apply', '--yes', ...flagsOf(cluster)));
    assert.match(await cluster.read(OPERATOR, IMAGE), /:v1\.42\.3$/);
    assert.equal(await cluster.read('installations.operator.tigera.io default', '{.spec.registry}'), 'mirror.example.org/');
  });
});
