import assert from 'node:assert/strict';
import { readChartAhead } from '../../../src/stages/chart/ahead.ts';
import { readInstalled } from '../../../src/stages/survey/installed.ts';
import { deployment } from '../../support/calico-objects.ts';
import { type ChartParts, chartBench } from '../../support/chart-bench.ts';
import { TYPHA } from '../../support/operated-bench.ts';

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
  const [check = '', subject = ''] = TYPHA.split('=');
  const outcome = async (...of: Parameters<typeof aheadOf>) => (await aheadOf(...of)).findings.find(({ id }) => id === check)?.outcome;

  it('NS-251: names the order of agents and Typha, which apply would refuse', async () => {
    assert.equal(await outcome({ objects: [typha] }), 'error');
    assert.equal(await outcome({ objects: [typha], options: { accept: [{ check, subject }] } }), 'accepted');
  });

  it('NS-251: leaves it to a chain that goes on: there a person may take it on by its name', async () => {
    assert.equal(await outcome({ objects: [typha] }, ['backup', 'crds', 'apply']), undefined);
  });
});
