import assert from 'node:assert/strict';
import { interrupted } from '../../../src/kernel/interruption.ts';
import { type ChartParts, chartBench, openedChart } from '../../support/chart-bench.ts';

const found = async (parts: ChartParts) => (await openedChart(chartBench({ crdsApplied: true, ...parts }))).outcomes;

describe('where the chart and its values come from', () => {
  const wrongFiles: readonly (readonly [string, string, RegExp])[] = [
    ['no YAML', 'a: [', /more\.yaml:1/],
    ['a list', '- a\n', /more\.yaml has no map of values/],
  ];
  for (const [what, text, message] of wrongFiles) {
    it(`refuses a file of values that is ${what}, by its name`, async () => {
      const bench = chartBench({ files: { 'more.yaml': text }, options: { chartValues: 'more.yaml' } });
      await assert.rejects(openedChart(bench), { code: 'usage', message });
    });
  }

  it('takes an empty file of values as none', async () => {
    const outcomes = await found({ files: { 'more.yaml': '# nothing\n' }, options: { chartValues: 'more.yaml' } });
    assert.equal(outcomes['NS-239'], 'ok');
  });

  it('reads a chart by its own name, without a repository', async () => {
    const bench = chartBench({ options: { chart: './operator.tgz' } });
    await openedChart(bench);
    assert.ok(bench.asked.includes('helm show chart ./operator.tgz --version v3.32.1'));
  });

  it('takes a chart that says nothing about itself for no chart of the operator', async () => {
    assert.equal((await found({ chart: '' }))['NS-235'], 'error');
  });

  it('says when helm prints something else than the upgrade', async () => {
    const bench = chartBench({ crdsApplied: true });
    const run = bench.sources.tools.run;
    const tools = {
      ...bench.sources.tools,
      run: async (...args: Parameters<typeof run>) => ({
        ...(await run(...args)),
        ...(args[0].args[0] === 'upgrade' ? { stdout: 'done' } : {}),
      }),
    };
    const { outcomes } = await openedChart({ ...bench, sources: { ...bench.sources, tools } });
    assert.equal(outcomes['NS-239'], 'error');
  });

  for (const command of ['version', 'show', 'upgrade']) {
    it(`ends with the look that a person gave up during helm ${command}: nobody refused anything`, async () => {
      const bench = chartBench({ crdsApplied: true });
      const run = bench.sources.tools.run;
      let cut = 0;
      const cutOff: typeof run = async (...args) => {
        if (args[0].args[0] !== command) return run(...args);
        cut += 1;
        throw interrupted();
      };
      await assert.rejects(openedChart({ ...bench, sources: { ...bench.sources, tools: { ...bench.sources.tools, run: cutOff } } }), {
        code: 'interrupted',
      });
      assert.ok(cut > 0);
    });
  }

  it('cannot do anything without helm', async () => {
    const bench = chartBench({ crdsApplied: true });
    const missing = { exitCode: undefined, stdout: '', stderr: '', problem: 'not-found', durationMs: 0 } as const;
    const sources = { ...bench.sources, tools: { ...bench.sources.tools, run: async () => missing } };
    const { outcomes, plan } = await openedChart({ ...bench, sources });
    assert.deepEqual([outcomes['NS-234'], outcomes['NS-235']], ['error', 'error']);
    assert.ok('skip' in plan);
  });
});
