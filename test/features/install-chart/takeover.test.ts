import assert from 'node:assert/strict';
import { upgradeTo } from '../../fixtures/stored-record.ts';
import { type ChartParts, chartBench, commandsOf, openedChart, storedIn } from '../../support/chart-bench.ts';
import { CALICO_TARGET } from '../../support/target.ts';

const TARGET = { chart: { metadata: { name: 'tigera-operator', version: CALICO_TARGET }, values: { manageCRDs: true } } };
const MINUTE = 60_000;

/** Revision 4 is marked by an upgrade that never ended; revision 3 is deployed. The run began ten minutes ago. */
async function opened(pending: {
  readonly minutesAgo: number;
  readonly status?: string;
  readonly more?: object;
  readonly wrote?: readonly string[];
}) {
  const { minutesAgo, status = 'pending-upgrade', more = {}, wrote = ['crds', 'apply'] } = pending;
  const now = Date.now();
  const info = { status, description: 'Preparing upgrade', last_deployed: new Date(now - minutesAgo * MINUTE).toISOString() };
  const parts: ChartParts = { crdsApplied: true, objects: storedIn({ stored: { version: 4, ...TARGET, info, ...more } }) };
  const bench = chartBench(parts);
  const sources = { ...bench.sources, clock: { ...bench.sources.clock, now: () => new Date(now) } };
  const startedAt = new Date(now - 10 * MINUTE).toISOString();
  const { clusterUid } = bench.context;
  bench.record = {
    intent: upgradeTo(CALICO_TARGET),
    clusterUid,
    path: 'chart',
    digests: {},
    stages: [],
    kept: [],
    wrote,
    startedAt,
  } as ReturnType<typeof Object.assign>;
  const { findings, plan } = await openedChart({ ...bench, sources: { ...sources, records: bench.sources.records } });
  return { found: findings.find(({ id }) => id === 'NS-232') ?? assert.fail(), plan };
}

describe('a revision that is pending', () => {
  it('NS-232: is taken over where this run left it: its mark is deleted, and the upgrade made again', async () => {
    const { found, plan } = await opened({ minutesAgo: 2 });
    assert.equal(found.outcome, 'expected');
    assert.match(found.hint ?? '', /kubectl delete secret sh\.helm\.release\.v1\.calico\.v4 --namespace tigera-operator/);
    assert.match(found.hint ?? '', /the old operator runs with the new CRDs/);
    assert.ok('actions' in plan);
    const [takeover, chart] = plan.actions;
    assert.ok(takeover?.effect.type === 'delete');
    assert.deepEqual([takeover.effect.target.kind, takeover.effect.target.name], ['Secret', 'sh.helm.release.v1.calico.v4']);
    assert.notEqual(takeover.effect.target.uid, undefined);
    assert.deepEqual([chart?.id, chart?.afresh], ['chart', true]);
    assert.match(commandsOf(plan)[0] ?? '', /^helm upgrade calico /);
  });

  const others: readonly (readonly [string, Parameters<typeof opened>[0], RegExp])[] = [
    ['a helm that may still be at work', { minutesAgo: 0.1 }, /may still be at work/],
    ['one from before this run', { minutesAgo: 11 }, /^See that nobody is at work on it: the command below shows since when it is pending/],
    ['one of a run that has not come to apply', { minutesAgo: 2, wrote: ['crds'] }, /See that nobody/],
    ['a rollback', { minutesAgo: 2, status: 'pending-rollback' }, /See that nobody/],
    [
      'one to another release',
      { minutesAgo: 2, more: { chart: { metadata: { name: 'tigera-operator', version: 'v3.31.2' }, values: {} } } },
      /See that nobody/,
    ],
    [
      'an install, without which helm knows nothing of the release',
      { minutesAgo: 2, status: 'pending-install' },
      /Finish or undo that operation first, with what began it/,
    ],
  ];
  for (const [what, pending, hint] of others)
    it(`NS-232: is an error where it is ${what}`, async () => {
      const { found } = await opened(pending);
      assert.equal(found.outcome, 'error');
      assert.match(found.hint ?? '', hint);
    });
});
