import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { RunReport } from '../../../src/cli/documents.ts';
import { runReport, shownBefore } from '../../../src/cli/ending/run.ts';
import { STORED_BYTES, storedReport } from '../../../src/cli/ending/stored.ts';
import { reportOf } from '../../support/big-report.ts';
import { engineContext } from '../../support/engine-ports.ts';

const sizeOf = (report: RunReport) => Buffer.byteLength(JSON.stringify(report));

function documentOf(options: Parameters<typeof reportOf>[0], times = 1): RunReport {
  const { findings, plans, history } = reportOf(options);
  const many = Array.from({ length: times }, () => plans).flat();
  const outcome = { exit: 'done', findings, plans: many, stages: [], steps: [], writes: 1 } as const;
  return runReport(engineContext(), 'run', shownBefore({ ...outcome, ...(history ? { history } : {}) }), 'next');
}

describe('a report beside the run record', () => {
  it('of a small run has everything but what did not change and the contents of actions', () => {
    const report = documentOf({ nodes: 10 });
    const kept = storedReport(report);
    assert.deepEqual(kept.findings, JSON.parse(JSON.stringify(report.findings)));
    assert.deepEqual(kept.history, report.history);
    assert.deepEqual(
      kept.plans.map((plan) => [plan.actions.length, plan.objects.length]),
      [1, 1, 0, 1].map((objects) => [0, objects]),
    );
  });

  it('of 5,000 nodes keeps every node and is small once it is compressed', () => {
    const kept = storedReport(documentOf({ nodes: 5000, evidence: 5000 }));
    assert.equal(kept.history?.rollouts[0]?.rows.length, 5000);
    assert.ok(sizeOf(kept) <= STORED_BYTES);
    assert.ok(gzipSync(JSON.stringify(kept)).length < 200_000);
  });

  it('of whatever size fits, and keeps the nodes that took longest or failed', () => {
    const long = (text: string) => `${text} ${'x'.repeat(20)}`;
    const report = documentOf({ nodes: 40_000, evidence: 2000, stuck: [39_000], word: long, hosts: 10_000 }, 10);
    const kept = storedReport(report);
    assert.ok(sizeOf(report) > 5 * STORED_BYTES);
    assert.ok(sizeOf(kept) <= STORED_BYTES, String(sizeOf(kept)));
    const [rollout] = kept.history?.rollouts ?? [];
    assert.equal((rollout?.rows.length ?? 0) + (rollout?.omitted ?? 0), 40_000);
    assert.match(rollout?.rows[0]?.node ?? '', /^node-39001 /);
  });
});
