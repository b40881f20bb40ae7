import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { until } from '../control-plane/until.ts';
import { serveChartRegistry } from '../helm/chart-registry.ts';
import { NEW_CHART } from '../helm/own-charts.ts';
import { resolveHelm } from '../helm/programs.ts';
import { type ChartCluster, type ChartInstall, flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { OLD_CRD } from '../support/old-chart.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, surroundingsEnv, told, upgrade } from '../support/upgrade-process.ts';

const APPLY = ['apply', '--yes'] as const;
const OPERATOR = `deploy -n ${RELEASE_NAMESPACE} tigera-operator`;

function describeChart(title: string, major: 3 | 4, request: ChartInstall, tests: (cluster: ChartCluster) => void): void {
  describe(`${title} (helm ${major}) on a real control plane`, function () {
    this.timeout(280_000);
    tests(sharedChartCluster(major, request));
  });
}

async function upgraded(cluster: ChartCluster, ...flags: readonly string[]): Promise<void> {
  assertSucceeded(await cluster.upgrade(...APPLY, ...flagsOf(cluster), ...flags));
  const listed = JSON.parse(await cluster.helm('list', '-A', '-o', 'json')) as readonly Record<string, string>[];
  assert.deepEqual(
    listed.map(({ chart, status }) => [chart, status]),
    [[`tigera-operator-${CALICO_TARGET}`, 'deployed']],
  );
}

async function refused(cluster: ChartCluster, exitCode: number, words: RegExp, ...flags: readonly string[]): Promise<void> {
  const before = await cluster.versions();
  const result = await cluster.upgrade(...APPLY, ...flagsOf(cluster), ...flags);
  assert.equal(result.exitCode, exitCode, told(result));
  assert.match(result.stdout + result.stderr, words);
  assert.equal(await cluster.versions(), before);
}

describeChart('a release that helm writes on the server’s side', 4, {}, (cluster) => {
  it('names what the operator and a person have set before helm would stop at it, and takes it only when told so', async () => {
    const patch = JSON.stringify({ spec: { registry: 'another.example.org/' } });
    const args = ['patch', 'installations.operator.tigera.io', 'default', '--type=merge', '--field-manager=kubectl-patch', '-p', patch];
    assertSucceeded(await cluster.plane.kubectl(args));
    await refused(cluster, 8, /spec\.registry[\s\S]*kubectl-patch/);
    await upgraded(cluster, '--accept', 'NS-241');
    assert.equal(await cluster.read('installations.operator.tigera.io default', '{.spec.registry}'), 'mirror.example.org/');
  });

  it('a second apply writes nothing', async () => {
    const before = await cluster.versions();
    assertSucceeded(await cluster.upgrade(...APPLY, ...flagsOf(cluster)));
    assert.equal(await cluster.versions(), before);
  });
});

const KNOWS_CRDS = { version: 'v3.30.7', operator: 'v1.38.13', isNew: true };
const NEWER: ChartInstall = { chart: KNOWS_CRDS, crds: manifestFile('v3.30.7', 'operator-crds.yaml') };

for (const major of [3, 4] as const) {
  describeChart('CRDs that are left to the operator', major, NEWER, (cluster) => {
    it('are not touched; the operator is told to apply them', async () => {
      const tiers = () => cluster.read('crd', '{.items[*].metadata.resourceVersion}');
      const before = await tiers();
      await upgraded(cluster, '--manage-crds');
      assert.equal(await tiers(), before);
      assert.equal(await cluster.read(OPERATOR, '{.spec.template.spec.containers[0].args}'), '["-manage-crds=true"]');
      assert.equal(await cluster.read('goldmanes.operator.tigera.io', '{.items[*].metadata.name}'), 'default', 'what was on stays on');
    });
  });
}

describeChart('a release in ConfigMaps', 3, { env: { HELM_DRIVER: 'configmap' } }, (cluster) => {
  it('is found and upgraded where it is, whatever the shell of the upgrade says', async () => {
    const { HELM_DRIVER: _, ...env } = cluster.around.env ?? {};
    const around = { ...cluster.around, env };
    const refusal = await upgrade([...APPLY, ...flagsOf(cluster)], around);
    assert.equal(refusal.exitCode, 3, told(refusal));
    assert.match(told(refusal), /NS-247/);
    assertSucceeded(await upgrade([...APPLY, ...flagsOf(cluster), '--accept', 'NS-247=tigera-operator/calico'], around));
    assert.match(await cluster.helm('history', 'calico', '-n', RELEASE_NAMESPACE), pattern`${CALICO_TARGET}`);
  });
});

const OLD_CRDS: ChartInstall = { chart: { version: 'v3.27.5', operator: 'v1.32.12', isNew: false, templates: { 'crd.yaml': OLD_CRD } } };

describeChart('a release that holds CRDs among its objects', 3, OLD_CRDS, (cluster) => {
  it('is not upgraded, not even accepted, until they are marked to be kept; then they stay', async () => {
    await refused(cluster, 3, /NS-236/);
    await refused(cluster, 3, /NS-236/, '--accept', 'NS-236');
    const annotate = ['annotate', 'crd', 'oldthings.crd.projectcalico.org', 'helm.sh/resource-policy=keep'];
    assertSucceeded(await cluster.plane.kubectl(annotate));
    await upgraded(cluster);
    assert.equal(await cluster.read('crd oldthings.crd.projectcalico.org', '{.metadata.name}'), 'oldthings.crd.projectcalico.org');
  });
});

describeChart('a release whose last operation was cut off', 3, {}, (cluster) => {
  it('is refused with the command that clears it, and upgraded after it', async () => {
    const { plane, around, charts } = cluster;
    for (const node of ['node-01', 'node-02']) await plane.fault(node, 'image-pull');
    const args = ['upgrade', 'calico', charts.old, '-n', RELEASE_NAMESPACE, '--set', 'resources.requests.cpu=60m', '--wait'];
    const helm = execa(await resolveHelm(3), args, { env: surroundingsEnv(around), extendEnv: false, reject: false });
    const pending = () => cluster.read(`secret -n ${RELEASE_NAMESPACE} -l status=pending-upgrade`, '{.items[*].metadata.name}');
    await until('the operation is under way', async () => (await pending()) !== '');
    helm.kill('SIGKILL');
    await helm;
    for (const node of ['node-01', 'node-02']) await plane.fault(node, 'none');
    let last = '';
    await until('the operator has settled', async () => {
      const [before, ready] = [
        last,
        await cluster.read(OPERATOR, '{.status.replicas}/{.status.updatedReplicas}/{.status.availableReplicas}'),
      ];
      last = await cluster.versions();
      return ready === '1/1/1' && before === last;
    });
    await refused(cluster, 3, /kubectl delete secret\/sh\.helm\.release\.v1\.calico\.v2 --namespace tigera-operator/);
    const cleared = await plane.kubectl(['delete', 'secret', 'sh.helm.release.v1.calico.v2', '-n', RELEASE_NAMESPACE]);
    assert.equal(cleared.exitCode, 0);
    await upgraded(cluster);
  });
});

describeChart('a packed chart of one’s own, and the CRDs from a chart', 3, {}, (cluster) => {
  it('is upgraded from the file, its CRDs rendered by helm', async () => {
    const { around, charts } = cluster;
    const crdChart = join(around.home, 'crds');
    await execa('mkdir', ['-p', join(crdChart, 'templates')]);
    await writeFile(join(crdChart, 'Chart.yaml'), `apiVersion: v2\nname: crd.projectcalico.org.v1\nversion: ${CALICO_TARGET}\n`);
    await execa('cp', [manifestFile(CALICO_TARGET, 'v1_crd_projectcalico_org.yaml'), join(crdChart, 'templates')]);
    await cluster.helm('package', charts.target, '--destination', around.home);
    const packed = join(around.home, `tigera-operator-${CALICO_TARGET}.tgz`);
    const flags = ['--profile', 'calico', '--release', CALICO_TARGET, '--chart', packed, '--crd-chart', crdChart];
    assertSucceeded(await cluster.upgrade(...APPLY, ...flags));
    assert.equal(await cluster.read('crd tiers.crd.projectcalico.org', '{.metadata.name}'), 'tiers.crd.projectcalico.org');
  });
});

for (const major of [3, 4] as const) {
  describeChart('a chart in an OCI registry', major, {}, (cluster) => {
    it('is fetched once over TLS by a whole upgrade, and what was fetched is what is installed', async () => {
      const { around, charts } = cluster;
      const registry = await serveChartRegistry(await resolveHelm(major), around.home, charts.target, NEW_CHART);
      try {
        const flags = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases, '--chart', registry.chart];
        const env = { ...around.env, SSL_CERT_FILE: registry.authorityFile };
        const unconfirmed = await upgrade([...APPLY, ...flags], { ...around, env });
        assert.deepEqual([unconfirmed.exitCode, /--artifact-digest (\S+\w)/.exec(unconfirmed.stdout)?.[1]], [3, registry.digest]);
        assertSucceeded(await upgrade([...APPLY, ...flags, '--artifact-digest', registry.digest], { ...around, env }));
        assert.match(await cluster.helm('history', 'calico', '-n', RELEASE_NAMESPACE), pattern`tigera-operator-${CALICO_TARGET}`);
        const asked = registry.seen.map(({ method, url }) => `${method} ${url}`);
        assert.equal(asked.filter((line) => line.includes('/manifests/')).length, 1, asked.join('\n'));
      } finally {
        await registry.close();
      }
    });
  });
}
