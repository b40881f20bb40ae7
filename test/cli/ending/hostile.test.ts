import assert from 'node:assert/strict';
import { RECORD as STORED } from '../../fixtures/stored-record.ts';
import { commandBench } from '../../support/command-bench.ts';
import { CLUSTER_UID } from '../../support/engine-ports.ts';

const RECORD = { ...STORED, clusterUid: CLUSTER_UID, outcome: 'done', finishedAt: 't' };
const EXIT = { code: 'done', number: 0 };
const REPORT = {
  kind: 'RunReport',
  command: 'run',
  findings: [],
  plans: [],
  stages: [],
  suggestions: [],
  steps: [],
  exit: EXIT,
  writes: 0,
};
const HOSTILE: Readonly<Record<string, unknown>> = {
  'a finding that is null': { ...REPORT, findings: [null] },
  'a finding that is a number': { ...REPORT, findings: [7] },
  'a finding without evidence': { ...REPORT, findings: [{ outcome: 'error', id: 'NS-1', evidence: null }] },
  'a plan that is null': { ...REPORT, plans: [null] },
  'a plan without objects': { ...REPORT, plans: [{ id: 1 }] },
  'a step that is null': { ...REPORT, steps: [null] },
  'no exit code': { ...REPORT, exit: undefined },
  'a history that is a text': { ...REPORT, history: 'x' },
  'an empty history': { ...REPORT, history: {} },
};

async function reported(kept: Readonly<Record<string, unknown>>, ...argv: readonly string[]) {
  const bench = commandBench([]);
  bench.engine.stored = RECORD as unknown as NonNullable<typeof bench.engine.stored>;
  for (const [id, content] of Object.entries(kept)) bench.engine.kept.set(id, content);
  const exit = await bench.run('report', ...argv);
  return { exit, said: bench.out() + bench.err() };
}

describe('a kept report that holds what this program never writes', () => {
  for (const [what, content] of Object.entries(HOSTILE))
    for (const format of ['table', 'json', 'markdown', 'html'])
      it(`is one clear error, or is shown: ${what} (-o ${format})`, async () => {
        const { exit, said } = await reported({ 'r/report/1': content }, '-o', format);
        assert.doesNotMatch(said, /Cannot (read|destructure)|is not a function|is not iterable|\n\s+at /);
        if (exit !== 0) assert.match(said, /the report of run r cannot be shown: something else wrote into what was kept of it/);
      });

  it('is one clear error where the record of an older run is meant', async () => {
    const { exit, said } = await reported({ 'q/record': { ...RECORD, runId: 'q', stages: 7 } }, 'q');
    assert.equal(exit, 1);
    assert.match(said, /the report of run q cannot be shown/);
  });

  it('is named with what to look at', async () => {
    const { said } = await reported({ 'r/report/1': HOSTILE['a plan that is null'] });
    assert.match(said, /kubectl -n kube-system get secrets --field-selector type=netsvc-upgrade\/state/);
  });
});
