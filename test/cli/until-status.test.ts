import assert from 'node:assert/strict';
import { readUntil } from '../../src/cli/canary-status.ts';
import type { RunRecord, StageRecord } from '../../src/kernel/run-record.ts';

const done = (id: string, endedAt: string): StageRecord => ({ id, state: 'done', startedAt: endedAt, endedAt });
const [AT, LATER] = ['2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z'];

function untilOf(part: string, stages: readonly StageRecord[]) {
  const record = { flags: [`--until=${part}`], outcome: 'done', startedAt: AT, stages } as unknown as RunRecord;
  return readUntil(record, undefined);
}

describe('what status says of a run that was told where to stop', () => {
  const agents = [done('preflight', AT), done('crds', AT), done('apply', AT)];
  const controllers = [...agents, done('wait', AT)];

  it('names what comes after the stage at which it stopped', () => {
    assert.deepEqual(untilOf('agents', agents), {
      part: 'agents',
      since: AT,
      open: ['Typha', 'controllers', 'wait', 'ownerrefs-restore', 'cli', 'alp', 'verify'],
    });
    const open = ['names of policies', 'ownerrefs-restore', 'cli', 'alp', 'verify'];
    assert.deepEqual(untilOf('controllers', controllers), { part: 'controllers', since: AT, open });
  });

  it('is the same where a stage was performed alone since, but for that stage', () => {
    const open = ['names of policies', 'ownerrefs-restore', 'cli', 'alp', 'verify'];
    assert.deepEqual(untilOf('controllers', [...controllers, done('hep', LATER)]), { part: 'controllers', since: AT, open });
    const without = open.filter((id) => id !== 'alp');
    assert.deepEqual(untilOf('controllers', [...controllers, done('alp', LATER)]), { part: 'controllers', since: AT, open: without });
  });
});
