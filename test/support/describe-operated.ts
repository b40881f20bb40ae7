import assert from 'node:assert/strict';
import { assertWritesNothing, shared } from './installed-cluster.ts';
import { operatedCluster } from './operated-cluster.ts';
import { releases } from './releases.ts';
import { CALICO_OPERATOR, CALICO_TARGET } from './target.ts';
import { assertSucceeded, killedAt } from './upgrade-process.ts';

const RUN = [
  ...['run', '--yes', '--skip', 'cli', '--profile', 'calico', '--release', CALICO_TARGET],
  ...['--manifest-url', releases],
] as const;
const IMAGE = '{.spec.template.spec.containers[0].image}';

export interface OperatedCase {
  readonly accepted?: readonly string[];
  /** The aggregator and its UI are asked for, which rolls the agents. */
  readonly flowLogs?: boolean;
  /** Of the operator, if not the release's. */
  readonly namespace?: string;
  /** The Installation asks for FIPS mode, and a workload of somebody else stands beside the components. */
  readonly fips?: boolean;
}

/** Procedure B from one release, with an edit: killed when `words` are said, run again, and at the target with the edit. */
export function describeOperated(
  release: string,
  words: RegExp,
  { accepted = [], flowLogs = false, namespace, fips = false }: OperatedCase = {},
): void {
  const how = `${fips ? ', in FIPS mode, with a stranger beside it' : ''}${flowLogs ? ', with flow logs' : ''}${namespace ? `, the operator in ${namespace}` : ''}`;
  describe(`procedure B from ${release} on a real control plane${how}`, function () {
    this.timeout(900_000);
    const run = [...RUN, ...accepted.flatMap((one) => ['--accept', one]), ...(flowLogs ? ['--enable-flow-logs'] : [])];
    const operator = `deploy -n ${namespace ?? 'tigera-operator'} tigera-operator`;
    const manner = { mode: 'well', pace: 0.1, ...(namespace ? { namespace } : {}) } as const;
    const cluster = shared(() => operatedCluster(manner, { release, spec: fips ? { fipsMode: 'Enabled' } : {} }));
    before(async () => {
      const edit = ['set', 'resources', 'deployment/tigera-operator', '-n', namespace ?? 'tigera-operator', '--requests=cpu=70m'];
      assertSucceeded(await cluster.plane.kubectl(edit));
      const stranger = ['create', 'deployment', 'exporter', '-n', 'calico-system', '--image=reg.example.org/exporter:1.2', '--replicas=1'];
      if (fips) assert.equal((await cluster.plane.kubectl(stranger)).exitCode, 0);
    });

    it('is killed in the middle, run again, and ends at the target with the edit', async () => {
      await killedAt(run, cluster.around, words);
      assertSucceeded(await cluster.upgrade(...run));
      assert.equal(await cluster.read(operator, IMAGE), `quay.io/tigera/operator:${CALICO_OPERATOR}`);
      const cpu = '{.spec.template.spec.containers[0].resources.requests.cpu}';
      assert.equal(await cluster.read(operator, cpu), '70m');
      assert.equal(await cluster.read('installations default', '{.status.calicoVersion}'), CALICO_TARGET);
      assert.match(await cluster.read('ds -n calico-system calico-node', IMAGE), new RegExp(`:${CALICO_TARGET}${fips ? '-fips' : ''}$`));
      const agents = '{.status.updatedNumberScheduled}/{.status.numberAvailable}';
      assert.equal(await cluster.read('ds -n calico-system calico-node', agents), '3/3');
      const names = '{.items[*].metadata.name}';
      assert.equal(await cluster.read('goldmanes.operator.tigera.io', names), flowLogs ? 'default' : '', 'only when asked');
      assert.equal(await cluster.read('whiskers.operator.tigera.io', names), flowLogs ? 'default' : '');
      const server = '{.spec.template.spec.containers[0].env[?(@.name=="FELIX_FLOWLOGSGOLDMANESERVER")].value}';
      assert.equal(await cluster.read('ds -n calico-system calico-node', server), flowLogs ? 'goldmane.calico-system.svc:7443' : '');
    });

    if (namespace)
      it('has no second operator', async () => {
        const operators = '{.items[?(@.metadata.name=="tigera-operator")].metadata.namespace}';
        assert.equal(await cluster.read('deploy -A', operators), namespace);
        assert.equal(await cluster.read('namespaces', '{.items[?(@.metadata.name=="tigera-operator")].metadata.name}'), '');
      });

    it('a second run writes nothing', async () => {
      await assertWritesNothing(cluster, () => cluster.upgrade(...run));
    });
  });
}
