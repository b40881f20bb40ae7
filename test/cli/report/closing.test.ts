import assert from 'node:assert/strict';
import { effects } from '../../../src/cli/effects.ts';
import { closingLines } from '../../../src/cli/report/closing.ts';
import type { Outcome } from '../../../src/cli/report/run.ts';
import { chain } from '../../../src/features/chain.ts';
import { RUN_RECORD_VERSION, type RunRecord } from '../../../src/kernel/run-record.ts';

const record: RunRecord = {
  ...{ version: RUN_RECORD_VERSION, runId: 'r', clusterUid: 'u', profile: 'calico', target: 'v3.32.1', path: 'manifest', digests: {} },
  ...{ startedAt: '2026-11-21T02:00:00Z', startedBy: 'a@b', toolVersion: '1', accepted: [], stages: [], kept: [] },
  wrote: ['crds', 'apply'],
  noReturn: { because: 'policies get new names', at: '2026-11-21T02:01:00Z' },
};
const apply = { type: 'exec', run: { tool: 'kubectl', args: ['apply'] } } as const;
const plan = {
  ...{ id: 'apply', title: 't', ref: 'r', objects: [], notes: [] },
  actions: [{ id: 'a', title: 't', ref: 'r', undo: 'full', effect: apply }],
} as const;
const action = {
  stage: 'apply',
  id: 'a',
  title: 't',
  ref: 'r',
  startedAt: '2026-11-21T02:02:00Z',
  durationMs: 1,
  outcome: 'done',
} as const;
const outcome: Outcome = {
  ...{ exit: 'done', findings: [], plans: [plan], writes: 1, suggestions: [], record },
  stages: [{ id: 'verify', state: 'done', startedAt: '2026-11-21T02:03:00Z' }],
  history: { startedAt: '2026-11-21T02:02:00Z', endedAt: '2026-11-21T02:03:00Z', actions: [action], rollouts: [], notes: [] },
};
const closing = (more: Partial<Outcome>, isBlock = false) =>
  closingLines({
    ...{ command: 'run', chain, effects, isDryRun: false, isBlock, now: new Date('2026-11-21T02:03:00Z') },
    ...{ outcome: { ...outcome, ...more }, before: record },
  });

describe('the closing of a run that was resumed', () => {
  it('says what earlier parts changed, though it is the same stage, and that there is no undo any more', () => {
    assert.deepEqual(closing({ earlier: ['apply'] }), [
      'Changed by this command: apply.',
      'Earlier parts of this run, begun 3m ago, changed: apply.',
      'Running pods kept their network.',
      'Undo is not possible any more. The new controllers rename stored policies. Old agents still enforce them, but the old API server and CLI can no longer read, change or delete them.',
    ]);
  });

  it('gives to earlier parts nothing that this one changed, and all of it where this one changed nothing', () => {
    assert.equal(closing({ earlier: ['crds'] })[1], 'Earlier parts of this run, begun 3m ago, changed: crds.');
    assert.deepEqual(closing({ writes: 0 }).slice(0, 2), [
      'Nothing was changed by this command.',
      'Earlier parts of this run, begun 3m ago, changed: crds, apply.',
    ]);
  });

  it('says what a stop means for traffic in the words of the stop, but right below its block', () => {
    const stopped = {
      exit: 'stopped',
      suggestions: ['running pods keep their network; new pods on n1 get none'],
      earlier: ['apply'],
    } as const;
    assert.equal(closing(stopped).at(-1), 'Running pods keep their network. New pods on n1 get none.');
    assert.equal(closing(stopped, true).at(-1), 'Earlier parts of this run, begun 3m ago, changed: apply.');
  });
});
