import assert from 'node:assert/strict';
import type { RunMore } from '../../src/engine/chain-outcome.ts';
import { runChain } from '../../src/engine/run-chain.ts';
import type { Action } from '../../src/kernel/action.ts';
import { ok, type Verdict } from '../../src/kernel/check.ts';
import type { EngineEvent } from '../../src/kernel/event.ts';
import { Fault, LeftFault, Outdated } from '../../src/kernel/fault.ts';
import { interrupted } from '../../src/kernel/interruption.ts';
import { planSteps } from '../../src/kernel/plan.ts';
import { ApiFailure, type Clock } from '../../src/kernel/ports.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { type AnyStage, type StagePlan, stage } from '../../src/kernel/stage.ts';
import { fakeStage } from '../support/command-bench.ts';
import { type EngineBench, engineBench, engineContext } from '../support/engine-ports.ts';
import { scripted } from '../support/scripted-stage.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const exec = (id: string, extra: Partial<Action> = {}): Action => ({
  id,
  title: id,
  ref: '§4.4/2',
  undo: 'none',
  effect: { type: 'exec', run: { tool: 'kubectl', args: ['apply', '-f', id] }, canAsk: true },
  ...extra,
});

const patch = (id: string): Action =>
  exec(id, {
    keep: { changes: [{ ref: { apiVersion: 'v1', kind: 'ConfigMap', name: id }, before: {}, after: {} }] },
    effect: {
      type: 'patch-all',
      what: 'patched',
      patches: [{ target: { apiVersion: 'v1', kind: 'ConfigMap', name: id }, patch: [], uid: 'u' }],
    },
  });

const checked = (id: string, verdict: Verdict, plan?: StagePlan) => fakeStage(id, { readOnly: true, verdict, ...(plan && { plan }) });

async function run(bench: EngineBench, stages: readonly AnyStage[], options = {}, more: RunMore = {}) {
  const events: EngineEvent[] = [];
  const outcome = await runChain(stages, bench.ports, engineContext(options), (event) => events.push(event), more);
  return { outcome, events };
}

/** Two equal plans: the first is dropped when the lock is taken and the stage is planned anew. */
const twice = (plan: StagePlan): readonly StagePlan[] => [plan, plan];

describe('runChain', () => {
  it('takes the lock, plans anew, records, then acts, and gives the lock back', async () => {
    const bench = engineBench();
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a'), exec('b')] }))]);
    assert.equal(outcome.exit, 'done');
    assert.equal(outcome.writes, 2);
    assert.equal(bench.calls[0], 'lock');
    assert.equal(bench.calls[1], 'record');
    const acts = bench.calls.filter((call) => call.startsWith('exec'));
    assert.deepEqual(acts, ['exec kubectl apply -f a', 'exec kubectl apply -f b']);
    assert.equal(bench.calls.at(-1), 'unlock');
  });

  it('writes nothing at all, not even the lock, when no stage has anything to do', async () => {
    const bench = engineBench();
    const { outcome } = await run(bench, [scripted('crds', []), scripted('apply', [])]);
    assert.equal(outcome.exit, 'done');
    assert.deepEqual(bench.calls, []);
  });

  it('stops before the first action when a check fails, with exit 3', async () => {
    const bench = engineBench();
    const failed = checked('preflight', { status: 'failed', because: 'no', hint: 'fix it' });
    const { outcome } = await run(bench, [failed, scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.equal(outcome.exit, 'blocked');
    assert.equal(outcome.stoppedAt, 'preflight');
    assert.deepEqual(bench.calls, []);
  });

  it("ends with the check's own exit code where it has one", async () => {
    const failed = checked('apply', { status: 'failed', because: 'edits', hint: 'h', exit: 'conflicts' });
    assert.equal((await run(engineBench(), [failed])).outcome.exit, 'conflicts');
  });

  it('goes on past an accepted finding and keeps what it was', async () => {
    const failed = checked('preflight', { status: 'failed', because: 'no', hint: 'h', evidence: [{ text: 'Node/a' }] });
    const { outcome } = await run(engineBench(), [failed], { accept: [{ check: 'NS-001', subject: 'Node/a' }] });
    assert.equal(outcome.exit, 'done');
    assert.deepEqual(
      outcome.findings.map((one) => [one.outcome, one.was]),
      [['accepted', 'error']],
    );
  });

  it('does not accept a finding whose other subjects were not named', async () => {
    const failed = checked('preflight', { status: 'failed', because: 'no', hint: 'h', evidence: [{ text: 'Node/a' }, { text: 'Node/b' }] });
    const { outcome } = await run(engineBench(), [failed], { accept: [{ check: 'NS-001', subject: 'Node/a' }] });
    assert.equal(outcome.exit, 'blocked');
  });

  it('records what a removal takes away before it removes it', async () => {
    const bench = engineBench();
    await run(bench, [scripted('apply', twice({ actions: [patch('gone')] }))]);
    const kept = bench.calls.findIndex((call) => /^keep .*\/apply\/gone#1$/.test(call));
    assert.ok(kept >= 0 && kept < bench.calls.indexOf('patch gone'), bench.calls.join(', '));
    const settled = bench.calls.findIndex((call) => /^settled .*\/apply\/gone#1 true$/.test(call));
    assert.ok(settled > bench.calls.indexOf('patch gone'), bench.calls.join(', '));
  });

  it('records which stage is at work, also one that only waits, once the run has written', async () => {
    const bench = engineBench();
    const reading = scripted('wait', [], { readOnly: true });
    await run(bench, [scripted('preflight', []), scripted('apply', twice({ actions: [exec('a')] })), reading]);
    const running = bench.saved.map(({ stages }) =>
      stages
        .filter(({ state }) => state === 'running')
        .map(({ id }) => id)
        .join(' '),
    );
    assert.ok(running.includes('apply') && running.includes('wait'), running.join(', '));
    assert.equal(running.at(-1), '', 'none is left running');
    assert.ok(!running.includes('preflight'));
  });

  it('names a stage as a writer right before its first change, and has its record before whatever is more than a file', async () => {
    const bench = engineBench();
    const file = exec('f', { effect: { type: 'write', file: 'f', content: '' } });
    const asked = exec('q', { effect: { type: 'ask', instruction: 'do it' } });
    const wrote: (readonly string[] | undefined)[] = [];
    await runChain([scripted('apply', twice({ actions: [file, asked, exec('a')] }))], bench.ports, engineContext(), (event) => {
      if (event.type === 'action-started') wrote.push(bench.saved.at(-1)?.wrote);
    });
    assert.deepEqual(wrote, [undefined, [], ['apply']]);
  });

  const storedOf = async (stages: readonly AnyStage[], clock?: Clock) => {
    const bench = engineBench();
    const ports = { ...bench.ports, clock: clock ?? bench.ports.clock };
    await runChain(stages, ports, engineContext(), () => undefined);
    return bench.saved.map((record) => record.stages.map(({ id, state }) => `${id} ${state}`).join(', '));
  };
  const rounds = { actions: [exec('a')], keep: { id: 'edits', content: {} } };
  const chain = () => [
    scripted('preflight', [], { readOnly: true }),
    scripted('apply', [rounds, rounds, rounds], { converges: true }),
    scripted('wait', [], { readOnly: true }),
    scripted('verify', [], { readOnly: true, judgesResult: true }),
  ];

  it('stores the record once per stage that begins and at the end, besides what a removal needs', async () => {
    // Each question for the time finds three seconds gone: no look is shared.
    let ms = 0;
    const now = () => {
      ms += 3_000;
      return new Date(ms);
    };
    assert.deepEqual(await storedOf(chain(), { now, sleep: async () => undefined }), [
      'preflight skipped, apply running',
      'preflight skipped, apply running',
      'preflight skipped, apply done, wait running',
      'preflight skipped, apply done, wait skipped, verify running',
      'preflight skipped, apply done, wait skipped, verify skipped',
    ]);
  });

  it('stores what shares the look of the stage before with what comes next, unless it has something to do', async () => {
    assert.deepEqual(await storedOf(chain()), [
      'preflight skipped, apply running',
      'preflight skipped, apply running',
      'preflight skipped, apply done, wait skipped, verify skipped',
    ]);
    const waits: Action = exec('w', { effect: { type: 'ask', instruction: 'wait' } });
    const [preflight, apply] = chain();
    assert.ok(preflight && apply);
    assert.deepEqual((await storedOf([preflight, apply, scripted('wait', [{ actions: [waits] }], { readOnly: true })])).slice(2), [
      'preflight skipped, apply done, wait running',
      'preflight skipped, apply done, wait done',
    ]);
  });

  it('judges anew, and plans anew, before an action that wants it, once the round has written', async () => {
    const bench = engineBench();
    let judged = 0;
    const check = { id: 'NS-001', title: 't', category: 'kubernetes', severity: 'error', ref: '§1' } as const;
    const judge = () => {
      judged += 1;
      return ok();
    };
    const plan = { actions: [exec('labels'), exec('enable', { afresh: true })] };
    const rounds = [plan, plan, { actions: [exec('enable', { afresh: true })] }];
    const { outcome, events } = await run(bench, [scripted('hep', rounds, { checks: [{ ...check, judge }], converges: true })]);
    assert.equal(outcome.exit, 'done');
    assert.deepEqual(
      bench.calls.filter((call) => call.startsWith('exec')),
      ['exec kubectl apply -f labels', 'exec kubectl apply -f enable'],
    );
    assert.equal(judged, 3, 'at first, under the lock, and before enabling');
    const notes = events.flatMap((event) => (event.type === 'note' ? [event.text] : []));
    assert.deepEqual(notes, ['re-checks the cluster before: enable']);
  });

  for (const [title, wish] of [
    ['wants it', { afresh: true }],
    ['may not go by an old judgement', { judgedWithinMs: 60_000 }],
  ] as const)
    it(`judges a round that was only planned anew before an action that ${title}, and does not perform it where that is bad`, async () => {
      const bench = engineBench();
      const verdicts = [ok(), ok(), { status: 'failed', because: 'a label is another', hint: 'h', evidence: [] } as const];
      const judge = () => verdicts.shift() ?? ok();
      const check = { id: 'NS-001', title: 't', category: 'kubernetes', severity: 'error', ref: '§1', judge } as const;
      const rounds = [...twice({ actions: [exec('labels')] }), { actions: [exec('enable', wish)] }];
      const { outcome } = await run(bench, [scripted('hep', rounds, { checks: [check], converges: true })]);
      assert.equal(outcome.exit, 'blocked');
      assert.deepEqual(
        bench.calls.filter((call) => call.startsWith('exec')),
        ['exec kubectl apply -f labels'],
      );
    });

  /** A clock that goes on by a second with every program and every file of the work folder, and a check that is asked again and again. */
  function slowBench(verdicts: readonly Verdict[]) {
    const bench = engineBench();
    const start = Date.parse('2026-11-21T02:00:00Z');
    const clock = {
      ...bench.ports.clock,
      now: () => new Date(start + bench.calls.filter((call) => /^(exec|write) /.test(call)).length * 1000),
    };
    const asked: number[] = [];
    const judge = () => verdicts[asked.push(clock.now().getTime() - start) - 1] ?? ok();
    const check = { id: 'NS-001', title: 't', category: 'kubernetes', severity: 'error', ref: '§1', judge } as const;
    return { bench: { ...bench, ports: { ...bench.ports, clock } }, asked, check };
  }

  const removals = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => exec(`delete-${from + index}`, { judgedWithinMs: 3_000 }));
  const deleted = (bench: EngineBench) => bench.calls.flatMap((call) => /^exec .* (delete-\d+)$/.exec(call)?.[1] ?? []);

  it('judges anew where the round’s judgement got too old, as often as it takes to the end', async () => {
    const { bench, asked, check } = slowBench([]);
    const rounds = [removals(1, 60), ...Array.from({ length: 15 }, (_, index) => removals(4 * index + 1, 60))].map((actions) => ({
      actions,
    }));
    const { outcome } = await run(bench, [scripted('hep', rounds, { checks: [check], converges: true })]);
    assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
    assert.deepEqual(
      deleted(bench),
      removals(1, 60).map(({ id }) => id),
    );
    assert.deepEqual(asked.slice(0, 4), [0, 0, 4_000, 8_000]);
  });

  it('judges anew after a wait that took too long, though nothing was written since', async () => {
    const { bench, asked, check } = slowBench([]);
    const waits = Array.from({ length: 5 }, (_, index) => exec(`w${index}`, { effect: { type: 'write', file: `w${index}`, content: '' } }));
    const long = [...waits, ...removals(1, 2)];
    const rounds = [long, long, removals(1, 2)].map((actions) => ({ actions }));
    const { outcome } = await run(bench, [scripted('hep', rounds, { checks: [check], converges: true })]);
    assert.deepEqual([outcome.exit, deleted(bench)], ['done', ['delete-1', 'delete-2']]);
    assert.deepEqual(asked, [0, 0, 5_000]);
  });

  for (const [seconds, times] of [
    [5, 2],
    [11, 3],
  ] as const)
    it(`goes by a judgement ${times === 2 ? 'still' : 'no more'} after a wait of ${seconds} s, where an action wants a fresh one`, async () => {
      const { bench, asked, check } = slowBench([]);
      const waits = Array.from({ length: seconds }, (_, at) => exec(`w${at}`, { effect: { type: 'write', file: `w${at}`, content: '' } }));
      const last = exec('delete-1', { afresh: true });
      const rounds = [[...waits, last], [...waits, last], [last]].map((actions) => ({ actions }));
      const { outcome } = await run(bench, [scripted('apply', rounds, { checks: [check] })]);
      assert.deepEqual([outcome.exit, deleted(bench), asked.length], ['done', ['delete-1'], times]);
    });

  it('comes to the end of a dry run, however long what it tries takes', async () => {
    const { bench, check } = slowBench([]);
    const tried = Array.from({ length: 12 }, (_, at) => exec(`t${at}`));
    const rounds = Array.from({ length: 9 }, () => ({ actions: [...tried, exec('last', { afresh: true })] }));
    const { outcome } = await run(bench, [scripted('apply', rounds, { checks: [check] })], { dryRun: 'server' });
    assert.deepEqual([outcome.exit, outcome.message], ['done', undefined]);
    assert.match(bench.calls.at(-1) ?? '', /last/);
  });

  it('writes nothing more once the judgement in the middle is bad', async () => {
    const bad: Verdict = { status: 'failed', because: 'a policy is gone', hint: 'h', evidence: [] };
    const { bench, check } = slowBench([ok(), ok(), bad]);
    const rounds = [removals(1, 9), removals(1, 9), removals(5, 9)].map((actions) => ({ actions }));
    const { outcome } = await run(bench, [scripted('hep', rounds, { checks: [check], converges: true })]);
    assert.deepEqual([outcome.exit, deleted(bench).length], ['blocked', 4]);
  });

  it('stops at the first failing action and says which stage', async () => {
    const bench = engineBench();
    bench.tools.set('kubectl apply -f a', { exitCode: 1, stderr: 'boom' });
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a'), exec('b')] }))]);
    assert.equal(outcome.exit, 'failed');
    assert.match(outcome.message ?? '', /boom/);
    assert.ok(!bench.calls.includes('exec kubectl apply -f b'));
    assert.equal(bench.saved.at(-1)?.stages.at(-1)?.state, 'failed');
  });

  it('takes kubectl at its warning, not at its exit code, when ownership migration failed half-way', async () => {
    const bench = engineBench();
    const stderr = 'Warning: failed to re-apply configuration after performing Server-Side Apply migration. This is non-fatal';
    bench.tools.set('kubectl apply -f a', { exitCode: 0, stderr });
    assert.equal((await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))])).outcome.exit, 'failed');
  });

  it('refuses to write to another cluster than the one confirmed', async () => {
    const bench = engineBench();
    bench.uid = 'another';
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.equal(outcome.exit, 'failed');
    assert.match(outcome.message ?? '', /another cluster/);
    assert.ok(!bench.calls.some((call) => call.startsWith('exec')));
  });

  it('stops with exit 6 when another run holds the lock', async () => {
    const bench = engineBench();
    bench.lockedBy = 'bob';
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.equal(outcome.exit, 'locked');
    assert.deepEqual(bench.calls, []);
  });

  it('does not start the next action after the lock is lost', async () => {
    const bench = engineBench();
    const losing = exec('a', { effect: { type: 'write', file: 'f', content: '' } });
    const chain = scripted('apply', twice({ actions: [losing, exec('b')] }));
    let records = 0;
    const outcome = await runChain([chain], bench.ports, engineContext(), (event) => {
      if (event.type !== 'action-done') return;
      bench.lost.abort();
      records = bench.saved.length;
    });
    assert.equal(outcome.exit, 'locked');
    assert.equal(bench.saved.length, records, 'the record belongs to whoever holds the lock now');
    assert.ok(!bench.calls.some((call) => call.startsWith('exec')));
  });

  it('finishes the current action after one Ctrl-C and starts no other', async () => {
    const bench = engineBench();
    const outcome = await runChain(
      [scripted('apply', twice({ actions: [exec('a'), exec('b')] }))],
      bench.ports,
      engineContext(),
      (event) => {
        if (event.type === 'action-started') bench.soft.abort();
      },
    );
    assert.equal(outcome.exit, 'interrupted');
    assert.deepEqual(
      bench.saved.at(-1)?.stages.map(({ id, state }) => [id, state]),
      [['apply', 'interrupted']],
      'status does not call a stage failed that a person stopped',
    );
    assert.deepEqual(
      bench.calls.filter((call) => call.startsWith('exec')),
      ['exec kubectl apply -f a'],
    );
  });

  describe('says after Ctrl-C whether something was being written', () => {
    const message = async (bench: EngineBench, stages: readonly AnyStage[], at: string) => {
      const outcome = await runChain(stages, bench.ports, engineContext(), (event) => {
        if (`${event.type}${'action' in event ? ` ${event.action.id}` : ''}` === at) bench.soft.abort();
      });
      assert.equal(outcome.exit, 'interrupted');
      return outcome.message;
    };
    const nothing = 'stopped between two steps: nothing was being written';
    const first = () => scripted('crds', twice({ actions: [exec('a')] }));
    const second = () => scripted('apply', twice({ actions: [exec('b')] }));

    it('of what only read: that nothing was changed', async () => {
      const words = await message(engineBench(), [checked('preflight', ok()), first()], 'stage-started');
      assert.equal(words, 'stopped: nothing was changed by this command');
    });

    it('of a survey between two writes, even where a request was given up: that nothing was being written', async () => {
      const givenUp: AnyStage = { ...second(), open: () => Promise.reject(interrupted()) };
      assert.equal(await message(engineBench(), [first(), givenUp], 'stage-done'), nothing);
      assert.equal(await message(engineBench(), [first(), second()], 'action-done a'), nothing);
    });

    it('of a write that was ended: which one it was', async () => {
      const bench = engineBench();
      Object.assign(bench.ports.tools, { run: () => Promise.reject(interrupted()) });
      assert.equal(await message(bench, [first()], 'action-started a'), 'stopped in the middle of: a');
    });

    it('of a wait: that nothing was being written', async () => {
      const bench = engineBench();
      const next = () => Promise.reject(interrupted());
      Object.assign(bench.ports.cluster, { watch: () => ({ [Symbol.asyncIterator]: () => ({ next }) }) });
      const effect = { type: 'wait', until: { type: 'apiservice-available', names: ['v3'] }, timeoutMs: 1 } as const;
      const waits = scripted('crds', twice({ actions: [exec('a'), exec('w', { effect })] }));
      assert.equal(await message(bench, [waits], 'action-started w'), 'stopped while waiting: nothing was being written');
    });
  });

  describe('with the steps of the plan that was agreed to', () => {
    const gone = exec('b', { pointOfNoReturn: 'tables' });
    const stages = () => [scripted('crds', twice({ actions: [exec('a')] })), scripted('apply', twice({ actions: [gone, exec('c')] }))];
    const agreed = (actions: readonly Action[], id: string) => ({ id, title: id, ref: 'r', actions, objects: [], notes: [] });
    const steps = planSteps([agreed([exec('a')], 'crds'), agreed([gone, exec('c')], 'apply'), agreed([exec('d')], 'cli')]);
    const performed = async (bench: EngineBench, of = stages()) => {
      const places: unknown[] = [];
      const outcome = await runChain(
        of,
        bench.ports,
        engineContext(),
        (event) => {
          if (event.type === 'action-started') places.push(event.place?.step);
        },
        { steps },
      );
      return { outcome, places };
    };

    it('gives each step its number of the plan, and says in the record where it is', async () => {
      const bench = engineBench();
      const { outcome, places } = await performed(bench);
      assert.deepEqual(places, [1, 2, 3]);
      const noReturn = { step: 2, point: 'tables' };
      assert.deepEqual(bench.saved[0]?.progress, { stage: 'crds', step: 1, of: 4, last: 1, noReturn });
      assert.deepEqual(outcome.record?.progress, { stage: 'apply', step: 3, of: 4, noReturn });
    });

    it('gives no number to a step that is repeated, nor to one before it: the record stays where the run was', async () => {
      const bench = engineBench();
      const again = scripted('apply', [...twice({ actions: [gone, exec('c')], again: true }), { actions: [gone, exec('c')] }]);
      const { places, outcome } = await performed(bench, [again]);
      assert.deepEqual(places, [2, 3, undefined, undefined]);
      assert.equal(outcome.record?.progress?.step, 3);
    });

    it('notes the point of no return before it is written, and not where the run stops before it', async () => {
      const bench = engineBench();
      bench.tools.set('kubectl apply -f b', { exitCode: 1, stderr: 'no' });
      const { outcome } = await performed(bench);
      assert.equal(bench.calls.slice(0, bench.calls.indexOf('exec kubectl apply -f b')).filter((call) => call === 'record').length, 4);
      assert.equal(outcome.record?.noReturn?.point, 'tables');
      const early = engineBench();
      early.tools.set('kubectl apply -f a', { exitCode: 1, stderr: 'no' });
      const { record } = (await performed(early)).outcome;
      assert.deepEqual([record?.noReturn, record?.progress?.step], [undefined, 1]);
    });
  });

  it('does not judge what a person gave up, whatever a survey made of it', async () => {
    const bench = engineBench();
    const failing: Verdict = { status: 'failed', because: 'could not be checked', hint: 'h' };
    const open = checked('preflight', failing);
    const cutOff: AnyStage = {
      ...open,
      open: async (...args) => {
        const opened = await open.open(...args);
        bench.soft.abort();
        return opened;
      },
    };
    const { outcome, events } = await run(bench, [cutOff]);
    assert.equal(outcome.exit, 'interrupted');
    assert.deepEqual(outcome.findings, []);
    assert.ok(!events.some(({ type }) => type === 'judged'));
  });

  it('lets a first Ctrl-C finish what writes, the record and the lock, and not a wait', async () => {
    const bench = engineBench();
    const { interruption } = bench.ports;
    let finishing = 0;
    const finish = async <T>(work: () => Promise<T>) => {
      finishing += 1;
      return work().finally(() => (finishing -= 1));
    };
    Object.assign(interruption, { finish });
    const wait = exec('w', { effect: { type: 'wait', until: { type: 'apiservice-available', names: [] }, timeoutMs: 1 } });
    const during: string[] = [];
    await runChain([scripted('apply', twice({ actions: [exec('a'), wait] }))], bench.ports, engineContext(), (event) => {
      if (event.type === 'action-started') during.push(`${event.action.id} ${finishing > 0}`);
    });
    assert.deepEqual(during.slice(0, 2), ['a true', 'w false']);
    assert.equal(finishing, 0);
  });

  describe('judging the result', () => {
    const good = ok();
    const bad: Verdict = { status: 'failed', because: 'an old answer', hint: 'h' };
    const judging = (...looks: readonly Verdict[]) => {
      let seen = 0;
      return stage<Verdict>({
        ...{ id: 'verify', title: 'verify', ref: '§4.4', readOnly: true, judgesResult: true, needs: [] },
        checks: [{ id: 'NS-301', title: 't', category: 'kubernetes', severity: 'error', ref: '§1', judge: (facts) => facts }],
        survey: async () => looks[seen++] ?? bad,
        plan: () => ({ skip: 'judged' }),
      });
    };
    const wrote = () => scripted('apply', twice({ actions: [exec('a')] }));

    it('looks once more after a write before it says that something is wrong', async () => {
      const { outcome } = await run(engineBench(), [wrote(), judging(bad, good)]);
      assert.equal(outcome.exit, 'done');
    });

    it('says so when the second look finds it as well', async () => {
      const { outcome } = await run(engineBench(), [wrote(), judging(bad, bad, good)]);
      assert.equal(outcome.exit, 'blocked');
    });

    it('looks once more after another stage, for that one may have read at another moment', async () => {
      const waited = () => scripted('wait', [{ skip: 'every pod is ready' }], { readOnly: true });
      const { outcome } = await run(engineBench(), [waited(), judging(bad, good)]);
      assert.equal(outcome.exit, 'done');
    });

    it('believes the first look where nothing was written, and no other stage has looked', async () => {
      const { outcome } = await run(engineBench(), [judging(bad, good)]);
      assert.equal(outcome.exit, 'blocked');
    });
  });

  it('plans a converging stage anew until nothing is left', async () => {
    const bench = engineBench();
    const rounds = [{ actions: [exec('a')] }, { actions: [exec('a')] }, { actions: [exec('b')] }];
    const { outcome } = await run(bench, [scripted('apply', rounds, { converges: true })]);
    assert.equal(outcome.exit, 'done');
    assert.deepEqual(
      bench.calls.filter((call) => call.startsWith('exec')),
      ['exec kubectl apply -f a', 'exec kubectl apply -f b'],
    );
  });

  it('gives up on a stage that never comes to rest', async () => {
    const forever = Array.from({ length: 50 }, () => ({ actions: [exec('a')] }));
    const { outcome } = await run(engineBench(), [scripted('apply', forever, { converges: true })]);
    assert.equal(outcome.exit, 'failed');
    assert.equal(outcome.message, 'apply keeps changing: something else keeps changing the same objects');
    assert.match(outcome.steps.join(), /--show-managed-fields/);
  });

  for (const [why, thrown, message, other] of [
    ['what the last round met', () => new Outdated('old-1 is not there'), 'apply keeps changing: old-1 is not there', false],
    [
      'the object that another writer keeps changing',
      () => new ApiFailure(409, 'Conflict', 'the object has been modified'),
      'apply keeps changing: 1 of 1 object changed meanwhile: ConfigMap/p: the object has been modified',
      true,
    ],
  ] as const)
    it(`gives up with ${why}`, async () => {
      const bench = engineBench();
      bench.ports.cluster.patch = async () => {
        throw thrown();
      };
      const forever = Array.from({ length: 50 }, () => ({ actions: [patch('p')] }));
      const { outcome } = await run(bench, [scripted('apply', forever, { converges: true })]);
      assert.deepEqual([outcome.exit, outcome.message], ['failed', message]);
      assert.equal(/--show-managed-fields/.test(outcome.steps.join()), other);
      assert.match(String(outcome.steps.at(-1)), /run the same command again/);
    });

  it('sends a server dry run instead of the write and takes no lock', async () => {
    const bench = engineBench();
    const { events } = await run(bench, [scripted('apply', [{ actions: [exec('a'), patch('p')] }])], { dryRun: 'server' });
    assert.deepEqual(bench.calls, ['exec kubectl apply --dry-run=server -f a', 'dry-run patch p']);
    // What the server took needs no line beside the one that names it.
    const details = events.flatMap((event) => (event.type === 'action-done' ? [event.detail] : []));
    assert.deepEqual(details, [undefined, undefined]);
  });

  it('continues the record of an unfinished run and keeps what it knew first', async () => {
    const bench = engineBench();
    await run(bench, [scripted('apply', twice({ actions: [exec('a')], remember: { source: 'v3.26.4' } }))]);
    const first = bench.stored?.runId;
    await run(bench, [scripted('apply', twice({ actions: [exec('a')], remember: { source: NETSVC_TARGET } }))]);
    assert.equal(bench.stored?.runId, first);
    assert.equal(bench.stored?.intent.from, 'v3.26.4');
  });

  it('keeps what a stage cannot tell later once in a run, and again only what is anew', async () => {
    const bench = engineBench();
    const keeping = (anew?: boolean) => {
      const keep = { id: 'edits', content: {}, ...(anew === undefined ? {} : { anew }) };
      return run(bench, [scripted('apply', twice({ actions: [exec('a')], keep }))]);
    };
    const kept = () => bench.calls.filter((call) => call.includes('/apply/edits#')).map((call) => call.slice(-1));
    await keeping();
    await keeping();
    assert.deepEqual(kept(), ['1']);
    await keeping(true);
    assert.deepEqual(kept(), ['1', '2']);
  });

  it('names a program that is missing and what to do', async () => {
    const bench = engineBench();
    bench.tools.set('kubectl apply -f a', { exitCode: undefined, stderr: '', problem: 'not-found' });
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.match(outcome.message ?? '', /kubectl was not found/);
    assert.match(outcome.steps.join(), /install kubectl/);
  });

  it('names the next step where an answer of the server ends it', async () => {
    const survey = async () => Promise.reject(new ApiFailure(0, 'ECONNREFUSED', 'no answer from https://there'));
    const { outcome } = await run(engineBench(), [scripted('apply', [], { survey })]);
    assert.deepEqual([outcome.exit, outcome.message], ['failed', 'no answer from https://there']);
    assert.deepEqual(outcome.steps.map(String), [
      'see whether the API server answers: kubectl cluster-info',
      'then run the same command again',
    ]);
  });

  it('ends the record of an earlier run when only the proof was left to do', async () => {
    const bench = engineBench();
    await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.equal(bench.stored?.finishedAt, undefined);
    await run(bench, [scripted('verify', [], { readOnly: true, judgesResult: true })]);
    assert.ok(bench.stored?.finishedAt);
    assert.equal(bench.stored?.outcome, 'done');
  });

  it('ends the record of an earlier run under the lock, and not while another run holds it', async () => {
    const bench = engineBench();
    await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    const proof = () => [scripted('verify', [], { readOnly: true, judgesResult: true })];
    bench.lockedBy = 'another run';
    bench.calls.length = 0;
    assert.equal((await run(bench, proof())).outcome.exit, 'done');
    assert.deepEqual([bench.calls, bench.stored?.finishedAt], [[], undefined]);
    bench.lockedBy = undefined;
    await run(bench, proof());
    assert.deepEqual(bench.calls, ['lock', 'record', 'unlock']);
  });

  it('does not write over the record of an unfinished run to another release, unless told so', async () => {
    const bench = engineBench();
    const chain = () => [scripted('apply', twice({ actions: [exec('a')] }))];
    await run(bench, chain());
    const first = bench.stored?.runId;
    assert.equal((await run(bench, chain(), { release: 'v3.33.0' })).outcome.exit, 'blocked');
    assert.equal(bench.stored?.runId, first);
    const more = { leavesRun: 'NS-012' };
    assert.match((await run(bench, chain(), { release: 'v3.33.0' }, more)).outcome.steps.join(), /--accept NS-012/);
    const { outcome } = await run(bench, chain(), { release: 'v3.33.0', accept: [{ check: 'NS-012' }] }, more);
    assert.equal(outcome.exit, 'done');
    assert.ok(bench.calls.includes(`keep ${first}/record`), 'the old record is kept beside the new one');
  });

  it('never continues a run that was for something else', async () => {
    const bench = engineBench();
    const chain = () => [scripted('apply', twice({ actions: [exec('a')] }))];
    const { outcome } = await run(bench, chain());
    assert.equal(outcome.record?.intent.kind, 'upgrade');
    await bench.ports.records.save({ ...(outcome.record as RunRecord), intent: { kind: 'rollback', to: engineContext().goal.release } });
    const second = (await run(bench, chain())).outcome;
    assert.equal(second.exit, 'blocked');
    assert.match(second.message ?? '', /^a rollback to v3\.\d+\.\d+, begun .*, is unfinished/);
    assert.match(second.steps.join(), /finish it first: kubectl netsvc-upgrade rollback/);
  });

  it('learns the path of a run that a stage began which does not look at it', async () => {
    const bench = engineBench();
    await run(bench, [
      scripted('cli', [{ actions: [exec('a')] }]),
      scripted('apply', twice({ actions: [exec('b')], remember: { path: 'operator' } })),
    ]);
    assert.equal(bench.stored?.path, 'operator');
    await run(bench, [scripted('apply', twice({ actions: [exec('a')], remember: { path: 'chart' } }))]);
    assert.equal(bench.stored?.path, 'operator');
  });

  it('never learns the source of a run after it has begun', async () => {
    const bench = engineBench();
    await run(bench, [scripted('apply', twice({ actions: [exec('a')], remember: { oldest: 'unknown' } }))]);
    await run(bench, [scripted('apply', twice({ actions: [exec('a')], remember: { source: NETSVC_TARGET, oldest: NETSVC_TARGET } }))]);
    assert.deepEqual([bench.stored?.intent.from, bench.stored?.oldest], [undefined, 'unknown']);
  });

  it('does not look again at what its plan looked at a moment ago, as long as nothing was written', async () => {
    const bench = engineBench();
    const opened: string[] = [];
    const watched = (stage: AnyStage): AnyStage => ({
      ...stage,
      open(sources, context) {
        opened.push(stage.id);
        return stage.open(sources, context);
      },
    });
    const stages = [
      scripted('preflight', [{ actions: [] }], { readOnly: true }),
      scripted('apply', [...twice({ actions: [exec('a')] }), { actions: [exec('a')] }]),
      scripted('wait', [{ actions: [] }], { readOnly: true }),
    ].map(watched);
    const looked = new Map(
      await Promise.all(
        stages.map(async (one) => [one.id, { open: await one.open(bench.ports, engineContext()), tookMs: 9_000 }] as const),
      ),
    );
    opened.length = 0;
    const took = new Map<string, number>();
    const observe = (event: EngineEvent) => event.type === 'stage-done' && took.set(event.stage, event.durationMs);
    const outcome = await runChain(stages, bench.ports, engineContext(), observe, {
      looked: new Map([...looked].filter(([id]) => id !== 'apply')),
    });
    assert.equal(outcome.exit, 'done');
    assert.deepEqual(opened, ['apply', 'apply', 'wait']);
    assert.ok((took.get('preflight') ?? 0) >= 9_000, 'its look counts, whenever it was made');
    assert.ok((took.get('wait') ?? 0) < 9_000, 'it was looked at anew');
  });

  it('looks once where it is known that there is something to write: the lock is held before', async () => {
    const bench = engineBench();
    const opened: string[] = [];
    const stages = [
      scripted('preflight', [{ actions: [] }], { readOnly: true }),
      scripted('apply', [{ actions: [exec('a')] }]),
      scripted('wait', [{ actions: [] }], { readOnly: true }),
    ].map(
      (stage): AnyStage => ({
        ...stage,
        open(sources, context) {
          opened.push(`${stage.id}${bench.calls.includes('lock') ? ' under the lock' : ''}`);
          return stage.open(sources, context);
        },
      }),
    );
    const outcome = await runChain(stages, bench.ports, engineContext(), () => undefined, { changes: true });
    assert.equal(outcome.exit, 'done');
    assert.deepEqual(opened, ['preflight', 'apply under the lock', 'wait under the lock']);
  });

  it('judges a stage again once the lock is held, and stops if a blocker has appeared since', async () => {
    const bench = engineBench();
    const late = scripted('apply', twice({ actions: [exec('a')] }), {
      checks: [
        {
          id: 'NS-201',
          title: 't',
          category: 'manifest',
          severity: 'error',
          ref: '§4.4/1',
          judge: (round) => (round === 0 ? ok('fine') : { status: 'failed', because: 'somebody edited it', hint: 'look' }),
        },
      ],
    });
    const { outcome, events } = await run(bench, [late]);
    assert.equal(outcome.exit, 'blocked');
    assert.deepEqual(bench.calls, ['lock', 'unlock'], 'nothing was written, and the lock was given back');
    assert.deepEqual(
      outcome.findings.map((one) => one.message),
      ['somebody edited it'],
      'the last round counts, and only that one',
    );
    assert.equal(events.filter((event) => event.type === 'judged').length, 2);
  });

  it('does not judge a half-done stage again: what it has changed itself would stop it', async () => {
    const rounds = [{ actions: [exec('a')] }, { actions: [exec('a')] }, { actions: [exec('b')] }];
    const strict = scripted('apply', rounds, {
      converges: true,
      checks: [
        {
          id: 'NS-201',
          title: 't',
          category: 'manifest',
          severity: 'error',
          ref: '§4.4/1',
          judge: (round) => (round < 2 ? ok('fine') : { status: 'failed', because: 'half', hint: 'h' }),
        },
      ],
    });
    assert.equal((await run(engineBench(), [strict])).outcome.exit, 'done');
  });

  it('looks at the age of the lock right before a write: a process that slept through its lease writes nothing', async () => {
    const bench = engineBench();
    const append = async () => {
      bench.held = false;
    };
    // The last thing before the write is that its record becomes durable: the sleep falls right there.
    Object.assign(bench.ports.records, { append });
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [patch('gone')] }))]);
    assert.equal(outcome.exit, 'locked');
    assert.match(outcome.message ?? '', /another run may have taken over/);
    assert.ok(!bench.calls.includes('patch gone'), bench.calls.join(', '));
  });

  it('notes no stage as begun once the lock is lost: the record is another run’s by then', async () => {
    const bench = engineBench();
    const first = scripted('crds', twice({ actions: [exec('a')] }));
    let records = 0;
    const outcome = await runChain([first, scripted('apply', [{ actions: [exec('b')] }])], bench.ports, engineContext(), (event) => {
      if (event.type !== 'stage-done') return;
      bench.held = false;
      records = bench.saved.length;
    });
    assert.equal(outcome.exit, 'locked');
    assert.ok(records > 0);
    assert.equal(bench.saved.length, records);
  });

  it('says so when the lock cannot be given back: others wait for it then', async () => {
    const bench = engineBench();
    const { acquire } = bench.ports.lock;
    const release = async () => Promise.reject(new ApiFailure(503, 'ServiceUnavailable', 'the server is away'));
    Object.assign(bench.ports.lock, { acquire: async () => ({ ...(await acquire()), release }) });
    const { outcome, events } = await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.equal(outcome.exit, 'done');
    const notes = events.flatMap((event) => (event.type === 'note' && event.level === 'warning' ? [event.text] : []));
    assert.deepEqual(notes, ['the lock could not be given back, other runs wait until it runs out: the server is away']);
  });

  it('ends the program at work when the lock is lost, and says why', async () => {
    const bench = engineBench();
    const tools: Pick<EngineBench['ports']['tools'], 'run'> = {
      run: async (_invocation, { signal } = {}) => {
        bench.lost.abort();
        return { exitCode: undefined, stdout: '', stderr: '', durationMs: 1, ...(signal?.aborted ? { problem: 'cancelled' } : {}) };
      },
    };
    Object.assign(bench.ports.tools, tools);
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.equal(outcome.exit, 'locked');
    assert.match(outcome.message ?? '', /the lock was lost/);
  });

  it('says what an action left for the user also where the lock is lost', async () => {
    const bench = engineBench();
    const lose = async () => {
      bench.lost.abort();
      throw new LeftFault(new Fault('locked', 'ended', []), { left: ['undo on node-04 what was done there'], owed: [] });
    };
    Object.assign(bench.ports.tools, { run: lose });
    const { outcome } = await run(bench, [scripted('apply', twice({ actions: [exec('a')] }))]);
    assert.match(outcome.message ?? '', /the lock was lost/);
    assert.equal(outcome.steps.map(String)[0], 'undo on node-04 what was done there');
  });

  describe('what it found and has cured itself', () => {
    const preflight = checked('preflight', {
      status: 'failed',
      because: 'old',
      hint: 'h',
      severity: 'warning',
      evidence: [{ text: '/a' }, { text: '/b' }],
    });
    const cures = (...subjects: readonly string[]) => ({ cures: subjects.map((subject) => ({ check: 'NS-001', subject })) });
    const outcomeAfter = async (actions: readonly Action[], options = {}) =>
      (await run(engineBench(), [preflight, scripted('cli', twice({ actions }))], options)).outcome.findings.map((one) => one.outcome);

    it('is not open at the end', async () => {
      assert.deepEqual(await outcomeAfter([exec('a', cures('/a')), exec('b', cures('/b'))]), ['cured']);
    });

    it('is not open at the end where an action cures the whole of it, whatever it is about', async () => {
      assert.deepEqual(await outcomeAfter([exec('a', { cures: [{ check: 'NS-001' }] })]), ['cured']);
      assert.deepEqual(await outcomeAfter([exec('a', { cures: [{ check: 'NS-002' }] })]), ['warning']);
      const effect = { type: 'wait', until: { type: 'time-passed', ms: 1 }, timeoutMs: 1 } as const;
      assert.deepEqual(await outcomeAfter([exec('b'), exec('a', { effect, cures: [{ check: 'NS-001' }] })]), ['cured'], 'a wait');
    });

    it('is not open at the end where a later stage has proved the state that it asked for', async () => {
      const outcomeSettled = async (settles: readonly string[], plan: StagePlan, options = {}) =>
        (await run(engineBench(), [preflight, scripted('wait', [plan], { settles })], options)).outcome.findings.map((one) => one.outcome);
      const skip = { skip: 'every pod is ready' };
      assert.deepEqual(await outcomeSettled(['NS-001'], skip), ['cured']);
      assert.deepEqual(await outcomeSettled(['NS-002'], skip), ['warning']);
      assert.deepEqual(await outcomeSettled(['NS-001'], skip, { dryRun: 'server' }), ['warning'], 'a dry run proves nothing');
    });

    it('stays open if only a part of it was cured', async () => {
      assert.deepEqual(await outcomeAfter([exec('a', cures('/a'))]), ['warning']);
    });

    it('is open again once a later stage finds it again', async () => {
      const again = checked('wait', { status: 'failed', because: 'old again', hint: 'h', severity: 'error', evidence: [{ text: '/a' }] });
      const cli = scripted('cli', twice({ actions: [exec('a', cures('/a', '/b'))] }));
      const { outcome } = await run(engineBench(), [preflight, cli, again]);
      assert.deepEqual(
        outcome.findings.map((one) => [one.outcome, one.message]),
        [
          ['warning', 'old'],
          ['error', 'old again'],
        ],
      );
      assert.equal(outcome.exit, 'blocked');
    });

    it('stays open if the cure was of another check', async () => {
      const other = ['/a', '/b'].map((subject) => ({ check: 'NS-002', subject }));
      assert.deepEqual(await outcomeAfter([exec('a', { cures: other })]), ['warning']);
    });

    it('stays open if the action failed, or was only a dry run', async () => {
      const bench = engineBench();
      bench.tools.set('kubectl apply -f a', { exitCode: 1, stderr: 'boom' });
      const { outcome } = await run(bench, [preflight, scripted('cli', twice({ actions: [exec('a', cures('/a', '/b'))] }))]);
      assert.deepEqual(
        outcome.findings.map((one) => one.outcome),
        ['warning'],
      );
      assert.deepEqual(await outcomeAfter([exec('a', cures('/a', '/b'))], { dryRun: 'server' }), ['warning']);
    });
  });

  it('keeps the sum of what an action fetched in the record', async () => {
    const bench = engineBench();
    Object.assign(bench.ports, {
      artifacts: { fetch: async () => ({ url: 'https://e/cli', file: 'cli', bytes: new Uint8Array(), sha256: 'cc' }) },
      machine: { installExecutable: async () => undefined },
    });
    const effect = { type: 'install-cli', release: 'v1', path: 'cli', url: 'https://e/cli', to: '/b/cli' } as const;
    await run(bench, [scripted('cli', twice({ actions: [exec('install', { effect })] }))]);
    assert.equal(bench.stored?.digests['cli-v1'], 'cc');
  });
});
