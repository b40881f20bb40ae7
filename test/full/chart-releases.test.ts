import assert from 'node:assert/strict';
import type { HelmMajor } from '../helm/programs.ts';
import { type ChartCluster, type ChartInstall, flagsOf, RELEASE_NAMESPACE, sharedChartCluster } from '../support/chart-cluster.ts';
import { assertWritesNothing } from '../support/installed-cluster.ts';
import { OLD_CRD } from '../support/old-chart.ts';
import { manifestFile } from '../support/releases.ts';
import { slowTool } from '../support/slow-kubectl.ts';
import { CALICO_OPERATOR, CALICO_TARGET, pattern } from '../support/target.ts';
import { assertSucceeded, killedAt } from '../support/upgrade-process.ts';

/** Where the first run is ended: by what it has said, or while the chart tool is at work. */
type KilledAt = RegExp | 'helm';

interface ChartCase {
  readonly release: string;
  readonly helm: HelmMajor;
  readonly install: ChartInstall;
  readonly killedAt: KilledAt;
  /** The CRDs are left to the operator. */
  readonly manageCrds?: boolean;
  /** CRD among the release's own objects, which has to outlive the upgrade once it is marked. */
  readonly keptCrd?: string;
}

/** The whole chain; no CLI is there to be changed. */
const RUN = ['run', '--yes', '--skip', 'cli'] as const;
const OPERATOR = `deploy -n ${RELEASE_NAMESPACE} tigera-operator`;

/** Procedure A from one old release: killed in the middle, run again, and at the one end that every release comes to. */
function describeChartRelease({ release, helm: major, install, killedAt: moment, keptCrd, manageCrds = false }: ChartCase): void {
  const commandOf = (cluster: ChartCluster) => [...RUN, ...flagsOf(cluster), ...(manageCrds ? ['--manage-crds'] : [])];
  describe(`procedure A from ${release} with helm ${major} on a real control plane`, function () {
    this.timeout(900_000);
    const cluster = sharedChartCluster(major, { ...install, operator: { mode: 'well', pace: 0.1 } });
    before(async () => {
      if (keptCrd === undefined) return;
      assertSucceeded(await cluster.plane.kubectl(['annotate', 'crd', keptCrd, 'helm.sh/resource-policy=keep']));
    });

    it('is killed in the middle, run again, and ends at the target with the values', async () => {
      await (moment === 'helm' ? killInHelm(cluster, commandOf(cluster)) : killedAt(commandOf(cluster), cluster.around, moment));
      assertSucceeded(await cluster.upgrade(...commandOf(cluster)));
      const listed = JSON.parse(await cluster.helm('list', '-A', '-o', 'json')) as readonly Record<string, string>[];
      assert.deepEqual(
        listed.map(({ chart, status, revision }) => [chart, status, revision]),
        [[`tigera-operator-${CALICO_TARGET}`, 'deployed', '2']],
      );
      assert.match(await cluster.read(OPERATOR, '{.spec.template.spec.containers[0].image}'), pattern`:${CALICO_OPERATOR}$`);
      assert.equal(await cluster.read(OPERATOR, '{.spec.template.spec.containers[0].args}'), `["-manage-crds=${manageCrds}"]`);
      assert.equal(await cluster.read(OPERATOR, '{.spec.template.spec.containers[0].resources.requests.cpu}'), '50m');
      assert.equal(await cluster.read('installations.operator.tigera.io default', '{.spec.registry}'), 'mirror.example.org/');
      assert.equal(await cluster.read('installations.operator.tigera.io default', '{.status.calicoVersion}'), CALICO_TARGET);
      assert.equal(
        await cluster.read('ds -n calico-system calico-node', '{.spec.template.spec.containers[0].image}'),
        `mirror.example.org/calico/node:${CALICO_TARGET}`,
      );
      const crds = ['goldmanes.operator.tigera.io', 'tiers.crd.projectcalico.org', ...(keptCrd === undefined ? [] : [keptCrd])];
      for (const crd of crds) assert.equal(await cluster.read(`crd ${crd}`, '{.metadata.name}'), crd);
    });

    it('a second run writes nothing', async () => {
      await assertWritesNothing(cluster, () => cluster.upgrade(...commandOf(cluster)));
    });
  });
}

/** The chart tool goes on without the run that started it. */
async function killInHelm({ around, tool: real }: ChartCluster, command: readonly string[]): Promise<void> {
  const slow = await slowTool(around, command, { name: 'helm', real, verb: 'upgrade' });
  const { child } = await slow.startHeld();
  child.kill('SIGKILL');
  await child;
  await slow.letGo();
}

describeChartRelease({
  release: 'v3.17.1',
  helm: 3,
  install: {
    chart: { version: 'v3.17.1', operator: 'v1.13.0', isNew: false, templates: { 'crd.yaml': OLD_CRD } },
    crds: manifestFile('v3.24.6', 'operator-crds.yaml'),
  },
  killedAt: 'helm',
  keptCrd: 'oldthings.crd.projectcalico.org',
});
describeChartRelease({
  release: 'v3.24.6',
  helm: 4,
  install: { chart: { version: 'v3.24.6', operator: 'v1.28.5', isNew: false }, crds: manifestFile('v3.24.6', 'operator-crds.yaml') },
  killedAt: /goldmanes\.operator\.tigera\.io serverside-applied/,
});
describeChartRelease({
  release: 'v3.30.7',
  helm: 4,
  manageCrds: true,
  install: { chart: { version: 'v3.30.7', operator: 'v1.38.13', isNew: true }, crds: manifestFile('v3.30.7', 'operator-crds.yaml') },
  killedAt: 'helm',
});
