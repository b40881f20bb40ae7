import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { ApiObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { type Attacker, attacker } from '../support/attacker.ts';
import { flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { packedChart, repositoryNaming, repositoryWith } from '../support/hostile-charts.ts';
import { assertNoCommandOfOthers } from '../support/marked-by-others.ts';
import { misleadingMachine, programRequests } from '../support/misleading.ts';
import { releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
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

  it('writes annotations on the operator and the Installation, of which no output makes a command', () =>
    assertNoCommandOfOthers(
      cluster,
      [
        ['deployment', '-n', RELEASE_NAMESPACE, 'tigera-operator'],
        ['installation', 'default'],
      ],
      flagsOf(cluster),
    ));

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

/** Whoever answers instead of the chart's repository: a proxy, a name that was taken over. */
describe('a repository of charts that is not the service’s', function () {
  this.timeout(280_000);
  const cluster = sharedChartCluster(3, { plane: { audit: 'requests' } });
  const from = (url: string) => ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases, '--repo', url];
  const folder = (name: string) => join(cluster.around.home, name);
  /** Servers, which would keep the process after a failure. */
  const ends: (() => unknown)[] = [];
  after(() => Promise.all(ends.map((end) => end())));

  /** Nothing is written, and each command says why. */
  async function assertRefused(url: string, why: RegExp): Promise<string> {
    const before = await cluster.versions();
    const results = [await cluster.upgrade('plan', '-o', 'wide', ...from(url)), await cluster.upgrade('apply', '--yes', ...from(url))];
    for (const result of results) {
      assert.equal(result.exitCode, 3, told(result));
      assert.match(told(result), why);
    }
    assert.equal(await cluster.versions(), before);
    return results.map(told).join('\n');
  }

  it('gets no file of its own name into the work folder, whether it is a chart or a kubeconfig', async () => {
    const misled = await misleadingMachine(cluster.plane, folder('misled'));
    ends.push(misled.stop);
    const kubeconfig = await readFile(join(misled.home, '.kube', 'config'));
    for (const [name, content] of [
      ['kubeconfig', kubeconfig],
      ['other-operator-v9.9.9.tgz', await packedChart(cluster.tool, folder('packed'))],
    ] as const) {
      const repository = await repositoryNaming(name, content);
      ends.push(repository.close);
      await assertRefused(repository.url, /NS-235 .*is not of that very version/);
      assert.ok(repository.asked.includes(`/${name}`), 'it was fetched');
    }
    const kept = readdirSync(folder('.local/state'), { recursive: true }).map(String);
    assert.deepEqual(
      kept.filter((file) => /kubeconfig|other-operator|fresh-/.test(file)),
      [],
    );
    assert.equal(misled.visits(), 0);
  });

  it('reads nothing of the cluster with its chart, whose sum nobody confirmed', async () => {
    const bait = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bait', namespace: 'default' },
      stringData: { a: 'b41t' },
    });
    await cluster.plane.kubectl(['create', '-f', '-'], bait);
    const repository = await repositoryWith(cluster.tool, folder('reading'), READING);
    ends.push(repository.close);
    const before = (await programRequests(cluster.plane)).length;
    const said = await assertRefused(repository.url, /NS-248 .*sha256/i);
    const requests = (await programRequests(cluster.plane)).slice(before);
    assert.deepEqual(
      requests.filter(({ requestURI }) => /\/secrets\/bait/.test(requestURI)),
      [],
    );
    assert.ok(!said.includes(Buffer.from('b41t').toString('base64')));
    // The same chart, once its sum is given: then `lookup` reads.
    const confirmed = await cluster.upgrade('plan', ...from(repository.url), ...repository.confirmed);
    assert.ok(
      (await programRequests(cluster.plane)).some(({ requestURI }) => /\/secrets\/bait/.test(requestURI)),
      told(confirmed),
    );
  });
});

const READING = `apiVersion: v1
kind: ConfigMap
metadata: { name: bait, namespace: "{{ .Release.Namespace }}" }
data: { got: '{{ (lookup "v1" "Secret" "default" "bait").data | toJson }}' }
`;
