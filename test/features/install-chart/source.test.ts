import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { applyStage } from '../../../src/features/install/apply-stage.ts';
import { waitStage } from '../../../src/features/install/around.ts';
import { readChartAhead } from '../../../src/features/install-chart/work.ts';
import { readInstalled } from '../../../src/features/survey/detect.ts';
import type { Invocation, Tools } from '../../../src/kernel/argv.ts';
import type { Context } from '../../../src/kernel/context.ts';
import { interrupted } from '../../../src/kernel/interruption.ts';
import type { RunRecord } from '../../../src/kernel/run-record.ts';
import { type ChartBench, type ChartParts, chartBench, openedChart } from '../../support/chart-bench.ts';
import { noteFound } from '../../support/judged-worlds.ts';
import { CALICO_TARGET, pattern } from '../../support/target.ts';

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
    assert.ok(bench.asked.includes(`helm show chart ./operator.tgz --version ${CALICO_TARGET}`));
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

const REPOSITORY = 'https://docs.tigera.io/calico/charts';
const SAVED = `/w/tigera-operator-${CALICO_TARGET}-a8c938318041.tgz`;
const place = (context: Context, onlyPlanned: boolean): Context => ({ ...context, chain: { pending: [], onlyPlanned, later: [] } });

const UNKNOWN = ({ sources }: ChartBench) => ({ ...sources.artifacts, sumOf: async () => undefined });

/** What programs are asked for, with more than their command lines. */
function invocationsOf({ sources }: ChartBench) {
  const asked: Invocation[] = [];
  const run: Tools['run'] = (invocation, options) => {
    asked.push(invocation);
    return sources.tools.run(invocation, options);
  };
  return { asked, sources: { ...sources, tools: { ...sources.tools, run } } };
}

function counted({ asked }: ChartBench): Readonly<Record<string, number>> {
  const kinds = asked.map((line) => (line.includes('--dry-run=server') ? 'dry run' : line.split(' ').slice(0, 2).join(' ')));
  return Object.fromEntries([...new Set(kinds)].sort().map((kind) => [kind, kinds.filter((one) => one === kind).length]));
}

describe('the chart of the target, fetched', () => {
  it('is fetched once by a whole run, and tried by the server once for the plan and once right before the upgrade', async () => {
    const bench = chartBench({ crdsApplied: true });
    const { sources, context } = bench;
    const installation = await readInstalled(sources, context);
    for (const onlyPlanned of [true, false]) {
      await readChartAhead(sources, context, { value: { type: 'found', installation } }); // the preflight
      for (const stage of [applyStage, waitStage]) await stage.open(sources, place(context, onlyPlanned));
    }
    assert.deepEqual(counted(bench), { 'dry run': 2, 'helm pull': 1, 'helm show': 2, 'helm template': 1, 'helm version': 1 });
    assert.deepEqual(
      bench.asked.filter((line) => line.includes(REPOSITORY)),
      [`helm pull tigera-operator --repo ${REPOSITORY} --version ${CALICO_TARGET} --destination /w/fresh`],
    );
  });

  it('is tried anew each time that the upgrade may follow at once', async () => {
    const bench = chartBench({ crdsApplied: true });
    for (let look = 0; look < 3; look += 1) await applyStage.open(bench.sources, place(bench.context, false));
    assert.equal(counted(bench)['dry run'], 3);
  });

  it('is named by its content: another chart under the same version is another command', async () => {
    const bench = chartBench({ crdsApplied: true });
    const files = { ...bench.sources.files, readBytes: async () => new TextEncoder().encode('another chart') };
    await openedChart({ ...bench, sources: { ...bench.sources, files, artifacts: UNKNOWN(bench) } });
    assert.match(bench.asked.join('\n'), pattern`helm show chart /w/tigera-operator-${CALICO_TARGET}-[0-9a-f]{12}\.tgz`);
    assert.ok(!bench.asked.join('\n').includes(SAVED));
    assert.equal([...bench.saved.keys()].length, 1);
  });

  it('is taken by its expected name alone: what the repository names otherwise reaches no file of the work folder', async () => {
    const bench = chartBench({ crdsApplied: true });
    const files = { ...bench.sources.files, exists: async (path: string) => path === `/w/tigera-operator-${CALICO_TARGET}.tgz` };
    const { outcomes } = await openedChart({ ...bench, sources: { ...bench.sources, files } });
    assert.equal(outcomes['NS-235'], 'error');
    const [pull = ''] = bench.asked.filter((line) => line.startsWith('helm pull'));
    assert.match(pull, /--destination \/w\/fresh$/);
  });

  it('is asked for again after a repository that gave no answer', async () => {
    const bench = chartBench({ crdsApplied: true });
    const { run } = bench.sources.tools;
    let pulls = 0;
    const tools = {
      ...bench.sources.tools,
      run: async (...args: Parameters<typeof run>) => {
        if (args[0].args[0] !== 'pull') return run(...args);
        pulls += 1;
        return { exitCode: 1, stdout: '', stderr: 'Error: no route to host', durationMs: 1 };
      },
    };
    const { outcomes } = await openedChart({ ...bench, sources: { ...bench.sources, tools } });
    assert.equal(outcomes['NS-235'], 'error');
    await openedChart({ ...bench, sources: { ...bench.sources, tools } });
    assert.equal(pulls, 2);
  });

  it('is refused where the repository has that version under another name only', async () => {
    const bench = chartBench({ crdsApplied: true });
    const sources = { ...bench.sources, files: { ...bench.sources.files, exists: async () => false } };
    assert.equal((await openedChart({ ...bench, sources })).outcomes['NS-235'], 'error');
  });

  it('has a sum that the plan shows and the run records; a run that was interrupted resumes with no other', async () => {
    const sum = createHash('sha256').update('a chart').digest('hex');
    const bench = chartBench({ crdsApplied: true });
    const { plan } = await openedChart(bench);
    assert.ok(!('skip' in plan));
    assert.equal(plan.remember?.digests?.[`tigera-operator-${CALICO_TARGET}.tgz`], sum);
    assert.match(plan.notes?.join('\n') ?? '', new RegExp(`from https://\\S+ tigera-operator, sha256 ${sum}`));
    const begun = (digest: string) => {
      const record = { finishedAt: undefined, digests: { [`tigera-operator-${CALICO_TARGET}.tgz`]: digest } };
      const records = { ...bench.sources.records, load: async () => record as unknown as RunRecord };
      return openedChart({ ...bench, sources: { ...bench.sources, records } });
    };
    assert.equal((await begun(sum)).outcomes['NS-206'], 'ok');
    assert.equal((await begun('0'.repeat(64))).outcomes['NS-206'], 'error');
  });

  it('gets no cluster before its sum is confirmed, which the finding names with the flag', async () => {
    const bench = chartBench({ crdsApplied: true });
    const { sources, asked } = invocationsOf(bench);
    const { outcomes, findings } = await openedChart({ ...bench, sources: { ...sources, artifacts: UNKNOWN(bench) } });
    noteFound(
      bench.context,
      findings.filter(({ id }) => id === 'NS-248'),
    );
    const sum = createHash('sha256').update('a chart').digest('hex');
    assert.deepEqual([outcomes['NS-248'], outcomes['NS-239']], ['error', 'not-applicable']);
    assert.match(
      findings.find(({ id }) => id === 'NS-248')?.hint ?? '',
      new RegExp(`--artifact-digest tigera-operator-${CALICO_TARGET}.tgz=${sum}`),
    );
    const helm = asked.filter(({ tool }) => tool === 'helm');
    assert.deepEqual(
      helm.filter(({ withoutCluster }) => !withoutCluster),
      [],
    );
    const confirmed = await openedChart({ ...bench, sources });
    assert.deepEqual([confirmed.outcomes['NS-248'], confirmed.outcomes['NS-239']], ['ok', 'ok']);
    assert.ok(asked.some(({ args, withoutCluster }) => args.includes('--dry-run=server') && !withoutCluster));
  });

  it('renders the CRDs of a chart without the cluster', async () => {
    const bench = chartBench({ options: { crdChart: 'crd.projectcalico.org.v1', chartRepository: REPOSITORY } });
    const { sources, asked } = invocationsOf(bench);
    await openedChart({ ...bench, sources });
    const rendered = asked.filter(({ args }) => args[0] === 'template' && args[1] === 'crds');
    assert.deepEqual(
      rendered.map(({ withoutCluster }) => withoutCluster),
      [true],
    );
  });

  it('is refused with another sum than the person gave for it', async () => {
    const bench = chartBench({ crdsApplied: true });
    const opened = (sha256: string) => {
      const sumOf = async (_: string, path: string) =>
        path === `tigera-operator-${CALICO_TARGET}.tgz` ? { sha256, from: '--artifact-digest' } : undefined;
      return openedChart({ ...bench, sources: { ...bench.sources, artifacts: { ...bench.sources.artifacts, sumOf } } });
    };
    assert.equal((await opened(createHash('sha256').update('a chart').digest('hex'))).outcomes['NS-235'], 'ok');
    assert.equal((await opened('0'.repeat(64))).outcomes['NS-235'], 'error');
  });

  const places: readonly (readonly [what: string, options: ChartParts['options'], shown: string, fetched: string | undefined])[] = [
    [
      'an OCI registry',
      { chart: 'oci://charts.example.org:5000/calico/tigera-operator' },
      SAVED,
      'pull oci://charts.example.org:5000/calico',
    ],
    ['an address', { chart: `https://example.org/a/tigera-operator-${CALICO_TARGET}.tgz` }, SAVED, 'pull https://example.org/a/'],
    ['a repository that helm knows', { chart: 'projectcalico/tigera-operator' }, SAVED, 'pull projectcalico/tigera-operator'],
    [
      'a repository of one’s own',
      { chartRepository: 'https://example.org/charts' },
      SAVED,
      'pull tigera-operator --repo https://example.org',
    ],
    ['a packed file', { chart: `./tigera-operator-${CALICO_TARGET}.tgz` }, `./tigera-operator-${CALICO_TARGET}.tgz`, undefined],
    ['a folder by its name alone', { chart: 'charts/operator' }, 'charts/operator', undefined],
  ];
  for (const [what, options, shown, fetched] of places) {
    it(`of ${what} is ${fetched === undefined ? 'used where it lies' : 'put into the work folder'}`, async () => {
      const bench = chartBench({ options: { ...options }, files: { 'charts/operator': '' } });
      await openedChart(bench);
      const pulls = bench.asked.filter((line) => line.startsWith('helm pull'));
      assert.equal(pulls.length, fetched === undefined ? 0 : 1);
      assert.ok(
        pulls.every((line) => line.startsWith(`helm ${fetched}`)),
        pulls.join(),
      );
      assert.ok(bench.asked.includes(`helm show values ${shown} --version ${CALICO_TARGET}`), bench.asked.join('\n'));
    });
  }
});
