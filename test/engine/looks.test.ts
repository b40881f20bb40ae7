import assert from 'node:assert/strict';
import { Looks } from '../../src/engine/plan-chain.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import type { Action, Effect } from '../../src/kernel/action.ts';
import { ok, type Verdict } from '../../src/kernel/check.ts';
import { K } from '../../src/kernel/kinds.ts';
import type { Cluster } from '../../src/kernel/ports.ts';
import type { AnyStage, Stage, StagePlan } from '../../src/kernel/stage.ts';
import { engineBench, engineContext } from '../support/engine-ports.ts';
import { scripted } from '../support/scripted-stage.ts';

const act = (effect: Effect): StagePlan => {
  const action: Action = { id: 'a', title: 'a', ref: '§4.4/2', undo: 'none', effect };
  return { actions: [action] };
};

const applies = act({ type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', 'a'] } });
const skips: StagePlan = { skip: 'nothing to do' };

describe('looks', () => {
  const twin = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'twin' } };

  it('pass on the answers to dry runs for ten seconds, and none once something was done', async () => {
    let [now, asked] = [0, 0];
    const cluster = {
      dryRunCreate: async () => {
        asked += 1;
        return twin;
      },
    } as unknown as Cluster;
    const looks = new Looks({ ...engineBench().ports, cluster, clock: { now: () => new Date(now), sleep: async () => undefined } });
    const asks = async () => {
      await looks.current().cluster.dryRunCreate(K.ConfigMap, twin);
      return asked;
    };
    assert.equal(await asks(), 1);
    looks.refresh();
    now = 10_000;
    assert.equal(await asks(), 1);
    looks.refresh();
    now = 10_001;
    assert.equal(await asks(), 2, 'an answer that was used grows no younger');
    looks.end();
    assert.equal(await asks(), 3);
  });

  it('ask again about an object that an apply leaves as it is, once something was done: admission may refuse it by then', async () => {
    let asked = 0;
    const cluster = {
      get: async () => twin,
      dryRunApply: async () => {
        asked += 1;
        return twin;
      },
    } as unknown as Cluster;
    const looks = new Looks({ ...engineBench().ports, cluster });
    const ask = async () => {
      const at = looks.current().cluster;
      await at.get(K.ConfigMap, 'twin');
      await at.dryRunApply(K.ConfigMap, twin, 'kubectl');
    };
    await ask();
    looks.refresh();
    await ask();
    assert.equal(asked, 1);
    looks.end();
    await ask();
    assert.equal(asked, 2);
  });
});

describe('looks of a chain', () => {
  /** Performs stages that each list the nodes, and tells how often the cluster was asked for them. */
  function chainOf() {
    const bench = engineBench();
    const lists: string[] = [];
    let now = 0;
    const ports = {
      ...bench.ports,
      clock: { now: () => new Date(now), sleep: async () => undefined },
      machine: { ...bench.ports.machine, writeFolder: async () => undefined },
      cluster: {
        ...bench.ports.cluster,
        list: async () => {
          lists.push(bench.calls.includes('lock') ? 'under the lock' : 'before');
          return [];
        },
      },
    };
    const looking = (id: string, plans: readonly StagePlan[], extra: Partial<Stage<number>> = {}): AnyStage =>
      scripted(id, plans, extra, ({ cluster }) => Promise.all([cluster.list(K.Node), cluster.list(K.Node)]));
    return {
      bench,
      looking,
      lists,
      passes: (ms: number) => {
        now += ms;
      },
      run: (stages: readonly AnyStage[], changes = false) => runChain(stages, ports, engineContext(), () => undefined, { changes }),
    };
  }

  it('is one for stages between which nothing is done', async () => {
    const { looking, lists, run } = chainOf();
    await run([looking('apply', [skips]), looking('wait', [skips]), looking('alp', [skips]), looking('verify', [skips])]);
    assert.equal(lists.length, 1);
  });

  it('is one at what runs have noted, but for what this run notes itself', async () => {
    const bench = engineBench();
    const asked: string[] = [];
    const { records, journal } = bench.ports;
    const told = <T>(what: string, read: () => Promise<T>) => {
      asked.push(what);
      return read();
    };
    const ports = {
      ...bench.ports,
      records: {
        ...records,
        load: () => told('record', records.load),
        keptWith: (part: string) => told(`kept ${part}`, () => records.keptWith(part)),
      },
      journal: { ...journal, load: () => told('journal', journal.load) },
    };
    const seen: (readonly string[] | undefined)[] = [];
    const reading = (id: string, plans: readonly StagePlan[]) =>
      scripted(id, plans, {}, async ({ records: noted, journal: removed }) => {
        await Promise.all([noted.load(), removed.load(), noted.keptWith('/x/'), noted.keptWith('/x/')]);
        seen.push((await noted.load())?.stages.map((one) => one.id));
      });
    const [wait, alp] = [reading('wait', [skips]), reading('alp', [skips])];
    const files = reading('backup', [act({ type: 'write', file: 'f', content: '' })]);
    await runChain([wait, alp], ports, engineContext(), () => undefined);
    assert.deepEqual(asked, ['record', 'journal', 'kept /x/']);
    asked.length = seen.length = 0;
    await runChain([reading('apply', [applies]), wait, files, alp], ports, engineContext(), () => undefined, { changes: true });
    assert.deepEqual(seen, [undefined, ['apply', 'wait'], ['apply', 'wait'], ['apply', 'wait', 'backup']]);
    assert.equal(asked.filter((what) => what === 'journal').length, 2, 'a record that is written leaves the journal as it is');
  });

  it('ends where the lock is taken: another run may have written before', async () => {
    const { looking, lists, run } = chainOf();
    await run([looking('preflight', [skips], { readOnly: true }), looking('backup', [skips]), looking('apply', [skips])], true);
    assert.deepEqual(lists, ['before', 'under the lock']);
  });

  it('goes on under the lock where no other run had it since the command began, but for an action that wants one of its own', async () => {
    const { looking, lists, passes, run, bench } = chainOf();
    bench.undisturbed = true;
    const look = () => looking('preflight', [skips], { readOnly: true });
    await run([look(), looking('backup', [skips]), looking('apply', [skips])], true);
    assert.deepEqual(lists, ['before']);
    lists.length = 0;
    passes(2_001);
    const { actions: [action = assert.fail()] = [] } = 'actions' in applies ? applies : {};
    const once: StagePlan = { actions: [{ ...action, afresh: true }] };
    await run([look(), looking('apply', [once, once])], true);
    assert.equal(lists.length, 2);
  });

  it('ends with every write, wait and whatever else is not only a file', async () => {
    for (const [plan, asked] of [
      [applies, 2],
      [act({ type: 'ask', instruction: 'do it' }), 2],
      [act({ type: 'backup', folder: 'f', files: [] }), 1],
      [act({ type: 'write', file: 'f', content: '' }), 1],
    ] as const) {
      const { looking, lists, run } = chainOf();
      const outcome = await run([looking('apply', [plan]), looking('wait', [skips])], true);
      assert.deepEqual([outcome.exit, lists.length], ['done', asked], JSON.stringify(plan));
    }
  });

  it('is not enough for an action that wants one of its own, right before it', async () => {
    const { looking, lists, run } = chainOf();
    const { actions: [action = assert.fail()] = [] } = 'actions' in applies ? applies : {};
    const once: StagePlan = { actions: [{ ...action, afresh: true }] };
    await run([looking('wait', [skips]), looking('apply', [once, once])], true);
    // The first stage has none of its own: the lock ends what it saw only where it was not held before.
    assert.equal(lists.length, 2);
    const held = chainOf();
    await held.run([held.looking('backup', [skips]), held.looking('apply', [once, once])], true);
    assert.deepEqual(held.lists, ['under the lock', 'under the lock']);
  });

  it('is not shared for longer than two seconds, nor once the clock was set back', async () => {
    for (const [ms, asked] of [
      [2_000, 1],
      [2_001, 2],
      [-1, 2],
    ] as const) {
      const { looking, lists, run, passes } = chainOf();
      const slow = looking('wait', [skips]);
      const lasting: AnyStage = {
        ...slow,
        async open(...given) {
          const open = await slow.open(...given);
          passes(ms);
          return open;
        },
      };
      await run([lasting, looking('alp', [skips])]);
      assert.equal(lists.length, asked);
    }
  });

  it('is made anew before a result is called bad', async () => {
    const { looking, lists, run } = chainOf();
    const check = { id: 'NS-301', title: 't', category: 'kubernetes', severity: 'error', ref: '§1' } as const;
    const bad = looking('verify', [skips, skips, skips], {
      judgesResult: true,
      checks: [{ ...check, judge: (round): Verdict => (round < 2 ? { status: 'failed', because: 'old', hint: 'wait' } : ok('new')) }],
    });
    const outcome = await run([looking('apply', [applies]), looking('wait', [skips]), bad], true);
    assert.equal(outcome.exit, 'blocked');
    assert.equal(lists.length, 3);
  });
});
