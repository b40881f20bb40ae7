import assert from 'node:assert/strict';
import { formerTimes } from '../../../src/cli/ending/recorded.ts';
import type { Records } from '../../../src/kernel/run-record.ts';

const CLUSTER = 'c-1';
const trace = (workload: string) => ({ workload, rows: [{ node: 'n', marks: [] }] });
const report = (...rollouts: unknown[]) => ({
  ...{ kind: 'RunReport', findings: [], plans: [], stages: [], suggestions: [], steps: [] },
  history: { rollouts },
});

function seen(record: object | undefined, kept: Readonly<Record<string, unknown>>) {
  const asked: string[] = [];
  const records = {
    load: async () => record,
    keptWith: async (part: string) => {
      asked.push(part);
      return Object.entries(kept)
        .filter(([id]) => id.includes(part))
        .map(([id, content]) => ({ id, content }));
    },
  } as unknown as Records;
  const session = { composition: { records }, context: { clusterUid: CLUSTER } } as Parameters<typeof formerTimes>[0];
  return {
    asked,
    times: () => formerTimes(session),
    found: async () => (await formerTimes(session)).rollouts.map(({ workload }) => workload),
  };
}

describe('what earlier runs took', () => {
  const kept = { 'r-1/report/1': report(trace('old')), 'r-2/report/1': report(trace('a')), 'r-2/report/2': report(trace('b')) };

  it('is of actions, too: those that came to their end', async () => {
    const action = { stage: 'crds', id: 'served', durationMs: 5 };
    const run = { ...report(trace('a')), history: { rollouts: [trace('a')], actions: [action, { stage: 'crds', id: 'killed' }, null] } };
    const { actions } = await seen({ runId: 'r', clusterUid: CLUSTER }, { 'r/report/1': run }).times();
    assert.deepEqual(actions, [action]);
  });

  it('is of the rollouts of the run that is recorded', async () => {
    assert.deepEqual(await seen({ runId: 'r-2', clusterUid: CLUSTER }, kept).found(), ['a', 'b']);
  });

  it('is of the runs before, where this one has seen none yet', async () => {
    assert.deepEqual(await seen({ runId: 'r-3', clusterUid: CLUSTER }, kept).found(), ['old', 'a', 'b']);
  });

  it('is nothing before the first run, and none of another cluster: nothing more is asked for', async () => {
    for (const record of [undefined, { runId: 'r-2', clusterUid: 'c-2' }]) {
      const { asked, found } = seen(record, kept);
      assert.deepEqual([await found(), asked], [[], []]);
    }
  });

  it('is nothing where something else wrote into what is kept', async () => {
    const broken = [
      report(1, null, { workload: 'w' }, { workload: 'w', rows: [3] }),
      { kind: 'RunReport' },
      { ...report(), history: { rollouts: 'x' } },
    ];
    const { found } = seen({ runId: 'r', clusterUid: CLUSTER }, Object.fromEntries(broken.map((one, index) => [`r/report/${index}`, one])));
    assert.deepEqual(await found(), []);
  });
});
