import assert from 'node:assert/strict';
import { crdsStage } from '../../../src/features/install/around.ts';
import { renderedChart } from '../../../src/features/install-chart/rendered.ts';
import { readChartFacts } from '../../../src/features/install-chart/survey.ts';
import { readChartAhead } from '../../../src/features/install-chart/work.ts';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { runRecord } from '../../support/apply-bench.ts';
import { deployment } from '../../support/calico-objects.ts';
import { type ChartParts, chartBench, storedIn } from '../../support/chart-bench.ts';
import { ORDER, TYPHA, unheld } from '../../support/operated-bench.ts';
import { CALICO_TARGET } from '../../support/target.ts';

/** What the preflight learns; `later`: the stages of its chain that follow. */
async function aheadOf(parts: ChartParts, later: readonly string[] = []) {
  const { sources, context } = chartBench(parts);
  const installation = await readInstalled(sources, context);
  const place = { ...context, chain: { pending: [], onlyPlanned: true, later } };
  const ahead = await readChartAhead(sources, place, { value: { type: 'found', installation } });
  return 'value' in ahead && ahead.value ? ahead.value : assert.fail('no chart release');
}

describe('what preflight tells of a chart upgrade', () => {
  const typha = deployment('calico-typha', 'quay.io/calico/typha:v3.27.5', { namespace: 'calico-system' });
  const [check, subject] = [ORDER, TYPHA];
  const outcome = async (...of: Parameters<typeof aheadOf>) => (await aheadOf(...of)).findings.find(({ id }) => id === check)?.outcome;

  it('NS-251: names the order of agents and Typha, which apply would refuse', async () => {
    assert.equal(await outcome({ objects: [typha], profile: unheld }), 'error');
    assert.equal(await outcome({ objects: [typha], profile: unheld, options: { accept: [{ check, subject }] } }), 'accepted');
  });

  it('NS-251: leaves it to a chain that goes on: there a person may take it on by its name, and one that ends before needs none', async () => {
    for (const later of [['backup', 'crds', 'apply'], ['backup'], ['backup', 'ownerrefs']])
      assert.equal(await outcome({ objects: [typha], profile: unheld }, later), undefined);
  });
});

describe('crds of a chart upgrade', () => {
  const typha = deployment('calico-typha', 'quay.io/calico/typha:v3.27.5', { namespace: 'calico-system' });
  const outcome = async (status: string) => {
    const chart = { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: {} };
    const bench = chartBench({ objects: [typha], profile: unheld, stored: { version: 4, chart, info: { status } } });
    bench.record = runRecord({ profile: 'calico', intent: upgradeTo(CALICO_TARGET, 'v3.27.5'), path: 'chart' });
    const findings = (await crdsStage.open(bench.sources, bench.context)).findings();
    return findings.find(({ id }) => id === 'NS-251')?.outcome;
  };

  it('NS-251: do not ask for an order that is over, where a definition changes once more after the release was upgraded', async () => {
    assert.deepEqual([await outcome('deployed'), await outcome('failed')], ['not-applicable', 'error']);
  });
});

describe('what helm does in an upgrade after a failed revision', () => {
  const GONE = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: gone }\n';
  const BROUGHT = '---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: brought }\n';
  /** Revision 3 is deployed; revision 4 failed, made without its values. */
  const objects = storedIn({ stored: { version: 4, info: { status: 'failed' }, config: {}, manifest: BROUGHT } });
  const names = (some: readonly { readonly metadata: { readonly name: string } }[]) => some.map(({ metadata }) => metadata.name);

  it('is told by the values of the deployed one also where only helm itself can render the chart', async () => {
    const parts = { objects, trial: { error: 'no matches for kind "Goldmane"' } };
    const { sources, context, saved } = chartBench(parts);
    await renderedChart(sources, await readChartFacts(sources, context, await readInstalled(sources, context), 'earlier'));
    assert.equal(saved.get('rendered-values.json'), '{"installation":{"registry":"mirror.example.org"}}');
  });

  it('deletes what the deployed one holds and the new one does not; what the failed one brought is there as well', async () => {
    const { work } = await aheadOf({ crdsApplied: true, stored: { manifest: GONE }, objects });
    assert.deepEqual(names(work?.removed ?? []), ['gone']);
    assert.deepEqual(names(work?.installed ?? []), ['gone', 'brought']);
  });

  it('NS-236: names the chart whose objects it deletes', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'ippools.crd.projectcalico.org' },
    };
    const held = { chart: { metadata: { name: 'tigera-operator', version: 'v3.17.1' }, values: {} }, manifest: JSON.stringify(crd) };
    const { findings } = await aheadOf({ crdsApplied: true, stored: held, objects: [...objects, crd] });
    assert.match(findings.find(({ id }) => id === 'NS-236')?.message ?? '', /tigera-operator v3\.17\.1 holds them as its own objects$/);
  });
});
