import assert from 'node:assert/strict';
import { mergedHistory, mergedStages } from '../../../src/cli/ending/recorded.ts';
import type { ActionTrace, RunHistory } from '../../../src/kernel/history.ts';
import type { StageRecord } from '../../../src/kernel/run-record.ts';

const at = (second: string) => `2026-11-21T02:00:0${second}.000Z`;
const stage = (id: string, state: StageRecord['state'], startedAt: string, endedAt: string): StageRecord => ({
  ...{ id, state, startedAt: at(startedAt), endedAt: at(endedAt) },
});
const action = (id: string, outcome: ActionTrace['outcome'], startedAt: string): ActionTrace => ({
  ...{ stage: 'cli', id, title: id, ref: 'r', startedAt, outcome },
});
const part = (startedAt: string, endedAt: string, actions: readonly ActionTrace[], notes: readonly string[]): RunHistory => ({
  ...{ startedAt, endedAt, actions, rollouts: [] },
  notes: notes.map((text) => ({ at: startedAt, stage: 'apply', level: 'info', text })),
});

describe('one report of a run that was resumed', () => {
  it('has one row per stage: when it began first, how it ended last, and how long it was at work, not what was between', () => {
    const merged = mergedStages([
      stage('crds', 'done', '1', '2'),
      stage('apply', 'failed', '2', '4'),
      stage('crds', 'skipped', '5', '5'),
      stage('apply', 'done', '5', '6'),
      stage('wait', 'skipped', '6', '6'),
      // The record has the last part once more.
      stage('apply', 'done', '5', '6'),
    ]);
    assert.deepEqual(merged, [
      { ...stage('crds', 'done', '1', '2'), durationMs: 1000 },
      { ...stage('apply', 'done', '2', '6'), durationMs: 3000 },
      stage('wait', 'skipped', '6', '6'),
    ]);
  });

  it('takes for done what a later part found nothing left of', () => {
    const merged = mergedStages([stage('wait', 'interrupted', '1', '2'), stage('wait', 'skipped', '8', '9')]);
    assert.deepEqual(merged, [{ ...stage('wait', 'done', '1', '9'), durationMs: 1000 }]);
  });

  it('has what was done later once, keeps what failed, and says each note once', () => {
    const merged = mergedHistory([
      part('1', '2', [action('a', 'left-to-person', '1'), action('b', 'running', '1'), action('c', 'failed', '1')], ['x', 'y']),
      part('3', '4', [action('a', 'left-to-person', '3'), action('b', 'done', '3'), action('c', 'done', '3')], ['x']),
    ]);
    assert.deepEqual([merged?.startedAt, merged?.endedAt], ['1', '4']);
    assert.deepEqual(
      merged?.actions.map(({ id, outcome, startedAt }) => `${id} ${outcome} ${startedAt}`),
      ['c failed 1', 'a left-to-person 3', 'b done 3', 'c done 3'],
    );
    assert.deepEqual(
      merged?.notes.map(({ text }) => text),
      ['x', 'y'],
    );
    assert.equal(mergedHistory([]), undefined);
  });
});
