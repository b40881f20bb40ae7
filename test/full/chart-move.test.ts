import assert from 'node:assert/strict';
import { NAMESPACE_CHART } from '../helm/own-charts.ts';
import { flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { assertWritesNothing } from '../support/installed-cluster.ts';
import { manifestFile } from '../support/releases.ts';
import { slowTool } from '../support/slow-kubectl.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, told } from '../support/upgrade-process.ts';

const CA = 'secret -n tigera-operator tigera-ca-private';

/** One story in order, per helm: the release in `default` that owns the operator's namespace, as charts up to v3.22 had it. */
for (const major of [3, 4] as const) {
  describe(`a chart release from before v3.23, in namespace default (helm ${major}) on a real control plane`, function () {
    this.timeout(280_000);
    const crds = manifestFile('v3.24.6', 'operator-crds.yaml');
    const cluster = sharedChartCluster(major, { chart: NAMESPACE_CHART, crds, namespace: 'default' });
    const stored = async (namespace: string) =>
      (await cluster.read(`secret -n ${namespace} -l owner=helm`, '{.items[*].metadata.name}')).trim();
    const uids = async () => [await cluster.read('ns tigera-operator', '{.metadata.uid}'), await cluster.read(CA, '{.metadata.uid}')];
    let installed: readonly string[] = [];

    before(async () => {
      const secret = ['create', 'secret', 'generic', 'tigera-ca-private', '-n', 'tigera-operator', '--from-literal=key=k'];
      assertSucceeded(await cluster.plane.kubectl(secret));
      installed = await uids();
    });

    for (const accepted of [[], ['--accept', 'NS-244', '--accept', 'NS-243']]) {
      it(`is refused where it is, with the flag that moves it, and nothing is written${accepted.length > 0 ? ', accepted or not' : ''}`, async () => {
        const versions = await cluster.versions();
        const result = await cluster.upgrade('apply', '--yes', ...flagsOf(cluster), ...accepted);
        assert.equal(result.exitCode, 3, told(result));
        assert.match(result.stdout + result.stderr, /NS-244/);
        if (accepted.length === 0) assert.match(result.stdout, /--move-release/);
        assert.equal(await cluster.versions(), versions);
      });
    }

    it('is moved, killed in the middle of helm and run again: the namespace, its CA and the values stay', async () => {
      const command = ['apply', '--yes', '--move-release', ...flagsOf(cluster)];
      const slow = await slowTool(cluster.around, command, { name: 'helm', real: cluster.tool, verb: 'install' });
      const { child } = await slow.startHeld();
      child.kill('SIGKILL');
      await child;
      await slow.letGo();
      assertSucceeded(await cluster.upgrade(...command));
      assert.deepEqual(await uids(), installed);
      const listed = JSON.parse(await cluster.helm('list', '-A', '-o', 'json')) as readonly Record<string, string>[];
      assert.deepEqual(
        listed.map(({ namespace, chart, status }) => [namespace, chart, status]),
        [['tigera-operator', `tigera-operator-${CALICO_TARGET}`, 'deployed']],
      );
      assert.equal(await stored('default'), '');
      assert.match(await cluster.helm('get', 'values', 'calico', '-n', RELEASE_NAMESPACE), /mirror\.example\.org/);
      assert.equal(await cluster.read('installations.operator.tigera.io default', '{.spec.registry}'), 'mirror.example.org/');
      assert.match(
        await cluster.read('deploy -n tigera-operator tigera-operator', '{.spec.template.spec.containers[0].image}'),
        pattern`:${CALICO_OPERATOR}$`,
      );
      assert.equal(await cluster.read('deploy -n default', '{.items[*].metadata.name}'), '', 'no second operator');
    });

    it('a second run writes nothing', async () => {
      await assertWritesNothing(cluster, () => cluster.upgrade('apply', '--yes', '--move-release', ...flagsOf(cluster)));
    });
  });
}
