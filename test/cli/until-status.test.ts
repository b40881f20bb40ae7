import assert from 'node:assert/strict';
import type { StatusDocument } from '../../src/cli/documents.ts';
import { heldNamesLines, untilOf as ofRecord, readUntil, untilLines } from '../../src/cli/until-status.ts';
import { chain } from '../../src/features/chain.ts';
import { command } from '../../src/kernel/command.ts';
import { ApiFailure } from '../../src/kernel/ports.ts';
import type { RunRecord, StageRecord } from '../../src/kernel/run-record.ts';

const done = (id: string, endedAt: string): StageRecord => ({ id, state: 'done', startedAt: endedAt, endedAt });
const [AT, LATER] = ['2026-01-01T10:00:00Z', '2026-01-01T12:00:00Z'];

const intent = { kind: 'upgrade' };

function untilOf(part: string, stages: readonly StageRecord[], of = chain) {
  const record = { flags: [`--until=${part}`], outcome: 'done', startedAt: AT, intent, stages } as unknown as RunRecord;
  return ofRecord(record, undefined, async () => of);
}

const DISABLED = { controllers: { policyMigration: { enabled: 'Disabled' } } };

/** With the controllers' configuration of that cluster; undefined: this account may not read it. */
function sessionWith(spec: object | undefined) {
  const cluster = {
    resolve: async () => ({}),
    get: async () => (spec ? { spec } : Promise.reject(new ApiFailure(403, 'Forbidden', 'no'))),
  };
  return { composition: { cluster }, seams: { loadChain: async () => chain } } as unknown as Parameters<typeof readUntil>[0];
}

async function seen(profile: string, spec: object | undefined) {
  const record = { profile, flags: ['--until=controllers'], outcome: 'done', startedAt: AT, intent, stages: [done('wait', AT)] };
  const session = sessionWith(spec);
  const { open: [first] = [], over = false } = (await readUntil(session, record as unknown as RunRecord, undefined)) ?? {};
  return [first, over];
}

describe('what status says of a run that was told where to stop', () => {
  const agents = [done('preflight', AT), done('crds', AT), done('apply', AT)];
  const controllers = [...agents, done('wait', AT)];

  it('names what comes after the stage at which it stopped', async () => {
    assert.deepEqual(await untilOf('agents', agents), {
      part: 'agents',
      since: AT,
      open: ['wait', 'ownerrefs-restore', 'cli', 'alp', 'verify'],
    });
    const open = ['ownerrefs-restore', 'cli', 'alp', 'verify'];
    assert.deepEqual(await untilOf('controllers', controllers), { part: 'controllers', since: AT, open });
  });

  it('is the same where a stage was performed alone since, but for that stage', async () => {
    const open = ['ownerrefs-restore', 'cli', 'alp', 'verify'];
    assert.deepEqual(await untilOf('controllers', [...controllers, done('hep', LATER)]), { part: 'controllers', since: AT, open });
    const without = open.filter((id) => id !== 'alp');
    assert.deepEqual(await untilOf('controllers', [...controllers, done('alp', LATER)]), { part: 'controllers', since: AT, open: without });
  });

  it('is told by the chain of the run: a stage that comes between is the last, or is open', async () => {
    const between = chain.flatMap((one) => (one.id === 'ownerrefs-restore' ? [{ ...one, id: 'another', putsBack: 'apply' }, one] : [one]));
    const { open } = (await untilOf('controllers', controllers, between)) ?? {};
    assert.deepEqual(open, ['another', 'ownerrefs-restore', 'cli', 'alp', 'verify']);
    const before = chain.flatMap((one) => (one.id === 'wait' ? [one, { ...one, id: 'another' }] : [one]));
    const stopped = await untilOf('controllers', [...controllers, done('another', LATER)], before);
    assert.deepEqual([stopped?.since, stopped?.open], [LATER, ['ownerrefs-restore', 'cli', 'alp', 'verify']]);
  });

  it('goes by the cluster for the names of policies: somebody may let the controllers rename', async () => {
    assert.deepEqual(await seen('calico', DISABLED), ['names of policies', false]);
    assert.deepEqual(await seen('calico', undefined), ['names of policies', false]);
    assert.deepEqual(await seen('calico', { controllers: {} }), ['ownerrefs-restore', true]);
    assert.deepEqual(await seen('netsvc', DISABLED), ['ownerrefs-restore', false]);
  });

  it('names the hold of the names also where the run, or its commit, came to no end', async () => {
    const failed = { profile: 'calico', flags: ['--until=controllers'], outcome: 'failed', stages: [] as readonly StageRecord[] };
    const told = async (spec: object | undefined, more: object = {}) =>
      (await heldNamesLines(sessionWith(spec), { ...failed, ...more } as unknown as RunRecord, undefined, command`x commit`)).map(String);
    assert.deepEqual(await told(DISABLED), [
      'this run holds the renaming of stored policies: the new CLI and the new v3 API do not find a policy of the default tier by its plain name. It ends with: x commit',
    ]);
    for (const [spec, more] of [
      [undefined, {}],
      [{ controllers: {} }, {}],
      [DISABLED, { outcome: 'done' }],
      [DISABLED, { finishedAt: LATER }],
      [DISABLED, { flags: ['--until=agents'] }],
      [DISABLED, { profile: 'netsvc' }],
    ] as const)
      assert.deepEqual(await told(spec, more), [], JSON.stringify([spec, more]));
  });

  it('says which owner references stay removed meanwhile', () => {
    const until = { part: 'agents', since: AT, open: ['wait'] };
    for (const [references, words] of [
      [1, '1 owner reference stays removed'],
      [7, '7 owner references stay removed'],
    ] as const) {
      const document = { until, ownerReferences: { objects: 1, references }, record: null } as unknown as StatusDocument;
      const said = untilLines(document, new Date(LATER), command`x commit`).map(String);
      assert.deepEqual(said, [
        'stopped on purpose, --until agents, for 2h. Open: wait',
        '  possible from here: x commit, or what undo says',
        `  until then: ${words}; the CLI of either release may refuse a mixed cluster; keep GitOps tools paused. Hold for hours, not for days`,
      ]);
    }
    const without = { until, ownerReferences: null, record: null } as unknown as StatusDocument;
    assert.doesNotMatch(untilLines(without, new Date(LATER), command`x commit`).join(), /owner reference/);
  });
});
