import assert from 'node:assert/strict';
import { chartBack } from '../../../src/features/install-chart/apply-back.ts';
import { readInstalled } from '../../../src/features/survey/index.ts';
import { type ChartParts, chartBench, commandsOf, storedIn } from '../../support/chart-bench.ts';
import { workloadOf } from '../../support/inventory.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const FROM = 'v3.31.7';
const MANIFEST = `apiVersion: apps/v1
kind: Deployment
metadata: { name: tigera-operator, namespace: tigera-operator }
spec: { replicas: 1, template: { spec: { containers: [{ name: tigera-operator, image: "quay.io/tigera/operator:OPERATOR" }] } } }
`;
const GOLDMANE = '---\napiVersion: operator.tigera.io/v1\nkind: Goldmane\nmetadata: { name: default }\n';
const chartOf = (version: string) => ({ chart: { metadata: { name: 'tigera-operator', version }, values: {} } });
const revision = (version: number, release: string, more: object = {}) => ({
  version,
  ...chartOf(release),
  info: { status: 'deployed', description: '' },
  manifest: release === FROM ? MANIFEST.replace('OPERATOR', 'v1.40.15') : `${MANIFEST.replace('OPERATOR', 'v1.42.3')}${GOLDMANE}`,
  ...more,
});
const OLD = revision(3, FROM, { info: { status: 'superseded', description: '' } });
const NEW = revision(4, CALICO_TARGET);

async function opened(revisions: readonly object[], parts: ChartParts = {}) {
  const agents = workloadOf('DaemonSet', 'csi-node-driver', {
    namespace: 'calico-system',
    images: { csi: `quay.io/calico/csi:${CALICO_TARGET}` },
  });
  const typha = workloadOf('Deployment', 'calico-typha', {
    namespace: 'calico-system',
    images: { 'calico-typha': `quay.io/calico/typha:${CALICO_TARGET}` },
  });
  const [first, ...others] = revisions;
  const objects = [agents, typha, ...others.flatMap((stored) => storedIn({ stored: { ...stored } })), ...(parts.objects ?? [])];
  const bench = chartBench({ crdsApplied: true, stored: { ...first }, ...parts, objects });
  const { sources, context } = bench;
  const installation = await readInstalled(sources, context);
  const takesBack = { runId: 'r', from: FROM, to: CALICO_TARGET, wrote: ['apply'], startedAt: '2026-01-01T00:00:00Z' };
  const back = { ...context, goal: { release: FROM, takesBack }, intent: { kind: 'rollback' } as const };
  // What follows the next steps of findings opens the stage by the bench.
  Object.assign(bench, { context: back });
  const stage = await chartBack.open(sources, back, { ...installation, hasTypha: true });
  const found = (id: string) => stage.findings().find((one) => one.id === id) ?? assert.fail(id);
  return { plan: stage.plan(), found, bench };
}

describe('the rollback of a chart release', () => {
  it('holds the agents, puts the revision before the upgrade back, and releases them once Typha is old', async () => {
    const { plan, found } = await opened([OLD, NEW]);
    assert.equal(found('NS-249').outcome, 'ok');
    assert.ok('actions' in plan);
    assert.deepEqual(commandsOf(plan), ['helm rollback calico 3 --namespace tigera-operator --no-hooks']);
    const ids = plan.actions.map(({ id }) => id);
    assert.deepEqual(ids, ['hold-calico-node', 'chart', 'typha', 'release-calico-node']);
    const chart = plan.actions.find(({ id }) => id === 'chart')?.effect;
    assert.ok(chart?.type === 'exec' && chart.onlyIf?.type === 'workloads-held');
    assert.match(String(plan.notes), /helm deletes what the older chart has not: Goldmane\/default/);
  });

  it('names what it cannot give back: no revision of the old release, a chart in between, values that changed since', async () => {
    const none = (await opened([NEW])).found('NS-249');
    assert.match(`${none.outcome} ${none.message}`, /no revision of tigera-operator\/calico is left that is of v3\.31\.7/);
    const other = (await opened([OLD, NEW, revision(5, 'v3.33.0')])).found('NS-249');
    assert.match(other.message, /revision 5 is of tigera-operator v3\.33\.0: the release was changed since the upgrade/);
    const superseded = { ...NEW, info: { status: 'superseded', description: '' } };
    const values = { installation: { registry: 'other.example.org' } };
    const changed = (await opened([OLD, superseded, revision(5, CALICO_TARGET, { config: values })])).found('NS-249');
    assert.match(changed.message, /1 value of the release changed since the upgrade, .*: installation\.registry$/);
  });

  it('does nothing once it is done', async () => {
    const { plan, found } = await opened([OLD, { ...NEW, info: { status: 'superseded', description: '' } }, revision(5, FROM)]);
    assert.equal(found('NS-249').outcome, 'ok');
    assert.ok(!('actions' in plan) || plan.actions.every(({ effect }) => effect.type !== 'exec'));
  });

  it('NS-247: is refused where a newer revision is in a ConfigMap, also one that looks as if all were done', async () => {
    const inConfigMap = (stored: object) => storedIn({ storage: 'ConfigMap', stored: { ...stored } });
    const superseded = inConfigMap({ ...OLD, version: 999 });
    for (const planted of [
      [...superseded, ...inConfigMap({ ...NEW, version: 1000 })],
      inConfigMap({ ...NEW, ...chartOf(FROM), version: 1000 }),
    ]) {
      const { outcome, message } = (await opened([OLD, NEW], { objects: planted })).found('NS-247');
      assert.equal(outcome, 'error');
      assert.match(message, /read from configmap\/sh\.helm\.release\.v1\.calico\.v1000/);
    }
    assert.equal((await opened([OLD, NEW])).found('NS-247').outcome, 'ok');
  });

  it('with helm 4 takes back the number of replicas that it has set itself', async () => {
    const { plan } = await opened([OLD, { ...NEW, apply_method: 'ssa' }], { helm: 'v4.0.0' });
    assert.ok('actions' in plan);
    assert.deepEqual(commandsOf(plan), ['helm rollback calico 3 --namespace tigera-operator --no-hooks --force-conflicts']);
  });
});
