import assert from 'node:assert/strict';
import type { RunRecord, StageRecord } from '../../src/kernel/run-record.ts';
import { type Beginner, begunRecord, endedRecord, freshRecord, withStages, withWriter } from '../../src/kernel/run-record-steps.ts';
import type { Remember } from '../../src/kernel/stage.ts';
import { upgradeTo } from '../fixtures/stored-record.ts';
import { engineContext } from '../support/engine-ports.ts';

const TARGET = engineContext().goal.release;
const beginner = (context: Partial<Beginner['context']> = {}): Beginner => ({
  context: { ...engineContext(), ...context },
  operator: 'alice@here',
  toolVersion: '1.2.3',
});
const accepting = (...accept: Beginner['context']['options']['accept']) => beginner({ options: engineContext({ accept }).options });
const begunWith = (known: Partial<RunRecord>): RunRecord => ({ ...freshRecord(beginner()), ...known });
const stageAs = (id: string, state: StageRecord['state']): StageRecord => ({ id, state, startedAt: '2026-11-21T02:00:00.000Z' });

describe('the record of a run before a write', () => {
  for (const [title, before, noted, fields] of [
    [
      'has what was found before the first write',
      undefined,
      { path: 'manifest', source: 'v3.26.4' },
      { path: 'manifest', intent: upgradeTo(TARGET, 'v3.26.4') },
    ],
    ['has no path where no stage looked', undefined, {}, { path: 'unknown', intent: upgradeTo(TARGET) }],
    ['keeps the path that was found first', { path: 'manifest' }, { path: 'chart' }, { path: 'manifest' }],
    ['is told a path that was not known', { path: 'unknown' }, { path: 'chart' }, { path: 'chart' }],
    ['goes on without a path that nobody knows', { path: 'unknown' }, {}, { path: 'unknown' }],
    [
      'keeps the source that was found first',
      { intent: upgradeTo(TARGET, 'v3.26.4') },
      { source: 'v3.32.2' },
      { intent: upgradeTo(TARGET, 'v3.26.4') },
    ],
    [
      'is told the releases by the first stage that looks, where one that does not wrote before it',
      { wrote: ['policy'] },
      { source: 'v3.26.4', oldest: 'v3.26.4' },
      { intent: upgradeTo(TARGET, 'v3.26.4'), oldest: 'v3.26.4' },
    ],
    [
      'is not told a release that a stage looked for and did not find',
      { wrote: ['crds'], oldest: 'unknown' },
      { source: 'v3.26.4', oldest: 'v3.26.4' },
      { intent: upgradeTo(TARGET), oldest: 'unknown' },
    ],
    ['keeps the variant that was found first', { variant: 'overlay' }, { variant: 'policy-only' }, { variant: 'overlay' }],
    ['is told a variant that was not known', {}, { variant: 'overlay' }, { variant: 'overlay' }],
    ['keeps the backup that was made first', { backup: '/first' }, { backup: '/second' }, { backup: '/first' }],
    [
      'names who took the backup, where another began',
      { startedBy: 'bob@there' },
      { backup: '/b' },
      { backup: '/b', backupBy: 'alice@here' },
    ],
    ['does not name who took the backup and began', {}, { backup: '/b' }, { backup: '/b', backupBy: undefined }],
    ['keeps who took the backup that was made first', { startedBy: 'bob@there', backup: '/b' }, { backup: '/c' }, { backupBy: undefined }],
    ['adds digests', { digests: { a: '1' } }, { digests: { b: '2' } }, { digests: { a: '1', b: '2' } }],
    ['keeps the digest of a file that was known', { digests: { a: '1' } }, { digests: { a: '2' } }, { digests: { a: '1' } }],
    ['has no outcome any more', { outcome: 'failed' }, {}, { outcome: undefined }],
    ['stays that of who began it', { startedBy: 'bob@there', toolVersion: '1.0.0' }, {}, { startedBy: 'bob@there', toolVersion: '1.0.0' }],
  ] satisfies readonly (readonly [string, Partial<RunRecord> | undefined, Remember, Partial<Record<keyof RunRecord, unknown>>])[])
    it(title, () => {
      const begun = begunRecord(before && begunWith(before), noted, beginner());
      const found = Object.fromEntries(Object.keys(fields).map((field) => [field, begun[field as keyof RunRecord]]));
      assert.deepEqual(found, fields);
    });

  it('adds what is accepted, each once, as it is written on the command line', () => {
    const first = begunRecord(undefined, {}, accepting({ check: 'NS-301' }));
    const next = begunRecord(first, {}, accepting({ check: 'NS-301' }, { check: 'NS-302', subject: 'a' }));
    assert.deepEqual([first.accepted, next.accepted], [['NS-301'], ['NS-301', 'NS-302=a']]);
  });

  it('has the last plan, and each flag as it was given last', () => {
    const first = begunRecord(undefined, {}, beginner({ savedPlan: 'd1', flags: ['--a=1', '--c=x', '--c=y'] }));
    const next = begunRecord(first, {}, beginner());
    const last = begunRecord(next, {}, beginner({ flags: ['--ab', '--c=z'] }));
    assert.deepEqual(
      [first, next, last].map(({ plan, flags }) => [plan, flags]),
      [
        ['d1', ['--a=1', '--c=x', '--c=y']],
        ['d1', ['--a=1', '--c=x', '--c=y']],
        ['d1', ['--a=1', '--ab', '--c=z']],
      ],
    );
  });

  it('keeps what the run was told where another command has a flag of its own', () => {
    const run = ['--before-node=(hidden)', '--until=controllers'];
    const first = begunRecord(undefined, {}, beginner({ flags: run }));
    assert.deepEqual(begunRecord(first, {}, beginner({ flags: ['--bin-dir=/x'] })).flags, [...run, '--bin-dir=/x']);
    const commit = beginner({ flags: ['--timeout=30m'], leftFlags: ['--until=agents'] });
    assert.deepEqual(begunRecord(first, {}, commit).flags, [...run, '--timeout=30m']);
  });

  it('has no flag any more that a run is continued without', () => {
    const first = begunRecord(undefined, {}, beginner({ flags: ['--until=agents', '--until-then=1', '--path=manifest'] }));
    const next = begunRecord(first, {}, beginner({ leftFlags: ['--until=', '--canary='] }));
    assert.deepEqual(next.flags, ['--until-then=1', '--path=manifest']);
    const held = { ...first, flags: ['--until=controllers', '--canary=1'] };
    const left = begunRecord(held, {}, beginner({ leftFlags: ['--until=agents', '--canary='] })).flags;
    assert.deepEqual(left, ['--until=controllers'], 'its hold is released by the end alone');
    assert.deepEqual(
      begunRecord(first, {}, beginner({ leftFlags: ['--until='], flags: ['--until=agents'] })).flags?.at(-1),
      '--until=agents',
    );
  });
});

describe('the record of a run', () => {
  it('has each stage once, as it was last, those of this part at the end', () => {
    const before = begunWith({ stages: [stageAs('crds', 'done'), stageAs('apply', 'failed'), stageAs('wait', 'done')] });
    const { stages } = withStages(before, [stageAs('apply', 'done'), stageAs('verify', 'running')]);
    assert.deepEqual(
      stages.map(({ id, state }) => `${id} ${state}`),
      ['crds done', 'wait done', 'apply done', 'verify running'],
    );
  });

  it('names each stage that wrote once', () => {
    const records = [withWriter(begunWith({}), 'backup'), withWriter(withWriter(begunWith({}), 'crds'), 'crds')];
    assert.deepEqual(
      records.map(({ wrote }) => wrote),
      [['backup'], ['crds']],
    );
  });

  for (const [exit, outcome] of [
    ['done', 'done'],
    ['interrupted', 'interrupted'],
    ['stopped', 'stopped'],
    ['blocked', 'failed'],
    ['locked', 'failed'],
    ['failed', 'failed'],
  ] as const)
    it(`that ends with ${exit} says ${outcome}, and is finished only where somebody says when`, () => {
      const ended = endedRecord(begunWith({ outcome: 'stopped' }), exit, undefined);
      assert.deepEqual([ended.outcome, 'finishedAt' in ended], [outcome, false]);
      assert.equal(endedRecord(ended, exit, '2026-11-21T03:00:00.000Z').finishedAt, '2026-11-21T03:00:00.000Z');
    });
});
