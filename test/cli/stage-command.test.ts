import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { effects } from '../../src/cli/effects.ts';
import type { Action } from '../../src/kernel/action.ts';
import { command } from '../../src/kernel/argv.ts';
import { interrupted, interruptionOf } from '../../src/kernel/interruption.ts';
import { applies, commandBench, fakeStage, interruptedRun } from '../support/command-bench.ts';
import { emptyFolder } from '../support/folders.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';

const failed = { status: 'failed', because: 'the server is gone', hint: 'bring it back', next: command`kubectl cluster-info` } as const;
const APPLY = 'exec kubectl apply --server-side -f upgrade.yaml';

describe('a command that performs stages', () => {
  it('asks with context, server and number of nodes, and acts on a yes', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml'), reaches: 'workloads' })]);
    bench.answers = [true];
    assert.equal(await bench.run('apply'), 0);
    assert.deepEqual(bench.questions, [
      `stage apply on context "test" (https://127.0.0.1:6443, 2 nodes), from v3.26.4 to ${NETSVC_TARGET}, as planned above?`,
    ]);
    assert.match(bench.err(), pattern`(?m:^manifest path, API datastore {3}v3\.26\.4 → ${NETSVC_TARGET} )`);
    assert.match(bench.err(), /kubectl apply --server-side -f upgrade\.yaml/);
    assert.ok(bench.engine.calls.includes(APPLY));
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade wait\n$/);
    assert.equal(bench.closed, 1);
  });

  it('asks for a stage alone in its own words, and for its undo, whatever run is unfinished', async () => {
    const alone = fakeStage('hep', { plan: applies('hep.yaml') });
    const stages = [{ ...alone, undo: { ...alone, title: 'stage hep' } }];
    for (const [words, asked] of [
      [['hep'], 'stage hep on context "test" (https://127.0.0.1:6443, 2 nodes), as planned above?'],
      [['hep', '--undo'], 'Undo: stage hep on context "test" (https://127.0.0.1:6443, 2 nodes), as planned above?'],
    ] as const) {
      const bench = commandBench(stages);
      bench.answers = [false];
      assert.equal(await bench.run(...words), 5);
      assert.deepEqual(bench.questions, [asked]);
    }
  });

  it('refuses what a dry run would not look at, before it reads anything', async () => {
    for (const [words, why] of [
      [['run', '--dry-run=server', '--detailed-exitcode'], /--detailed-exitcode goes with --dry-run=client alone/],
      [['run', '--yes', '--detailed-exitcode'], /--detailed-exitcode goes with --dry-run=client alone/],
      [['run', '--dry-run=client', '--plan-file', '/nowhere'], /--plan-file is not compared in a dry run/],
    ] as const) {
      const bench = commandBench([fakeStage('apply')]);
      assert.equal(await bench.run(...words), 64);
      assert.match(bench.err(), why);
      assert.deepEqual(bench.requests, []);
    }
  });

  it('says below the summary, why there is no undo', async () => {
    const plan = applies('upgrade.yaml');
    const actions = 'actions' in plan ? plan.actions.map((action) => ({ ...action, pointOfNoReturn: 'crds' as const })) : [];
    const bench = commandBench([fakeStage('apply', { plan: { actions } })]);
    bench.answers = [false];
    await bench.run('run');
    assert.match(bench.err(), / · 1 step\nNo undo after step 1\. An operator of Calico v3\.29 or older does not start on the new CRDs\.\n/);
    assert.match(bench.err(), /^POINT OF NO RETURN {2}step 1: CRDs never go back$/m);
  });

  it('changes nothing on a no and exits 5', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    bench.answers = [false];
    assert.equal(await bench.run('apply'), 5);
    assert.deepEqual(bench.engine.calls, []);
    assert.match(bench.err(), /error: declined: nothing was changed\n/);
    assert.equal(bench.closed, 1);
  });

  it('off a terminal without --yes prints the plan, changes nothing and exits 64', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '--context=prod'), 64);
    assert.deepEqual(bench.engine.calls, []);
    assert.match(bench.out(), /kubectl apply --server-side -f upgrade\.yaml/);
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade apply --context=prod --dry-run=client\n$/);
    assert.match(bench.err(), /error: nothing was changed: there is no terminal to ask on and --yes is not given/);
  });

  for (const [words, hint] of [
    [
      ['apply', '--manifest-url=https://anna:geheim@mirror.example/x'],
      /Next: kubectl netsvc-upgrade apply '--manifest-url=https:\/\/\(hidden\)@/,
    ],
    [
      ['apply', '--manifest-url', 'https://anna:geheim@mirror.example/x', '--yes'],
      /Next: kubectl netsvc-upgrade wait '--manifest-url=https:\/\/\(hidden\)@/,
    ],
    [
      ['plan', '--manifest-url=https://anna:geheim@mirror.example/x'],
      /Next: kubectl netsvc-upgrade run '--manifest-url=https:\/\/\(hidden\)@/,
    ],
  ] as const)
    it(`does not repeat the password of an address: ${words.join(' ').replace('geheim', '…')}`, async () => {
      const apply: Action['effect'] = {
        type: 'exec',
        run: { tool: 'helm', args: ['upgrade', '--repo', 'https://anna:geheim@charts.example'] },
      };
      const plan = { actions: [{ id: 'a', title: 'a', ref: '§4.4/2', undo: 'none', effect: apply }] } as const;
      const bench = commandBench([fakeStage('apply', { plan })]);
      await bench.run(...words);
      assert.match(bench.out(), hint);
      assert.doesNotMatch(bench.out() + bench.err(), /geheim/);
    });

  it('keeps no password of an address in a saved plan', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plan-'));
    const effect: Action['effect'] = {
      type: 'exec',
      run: { tool: 'helm', args: ['upgrade', '--repo', 'https://anna:geheim@charts.example'] },
    };
    const bench = commandBench([fakeStage('apply', { plan: { actions: [{ id: 'a', title: 'a', ref: '§4.4/2', undo: 'none', effect }] } })]);
    assert.equal(await bench.run('plan', '--out', join(folder, 'plan.json')), 0);
    const saved = readFileSync(join(folder, 'plan.json'), 'utf8');
    rmSync(folder, { recursive: true });
    assert.match(saved, /https:\/\/\(hidden\)@charts\.example/);
    assert.doesNotMatch(saved, /geheim/);
  });

  it('acts without asking on --yes', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '-y'), 0);
    assert.deepEqual(bench.questions, []);
    assert.ok(bench.engine.calls.includes(APPLY));
  });

  it('performs with --undo what takes the stage back, in its place', async () => {
    const undo = fakeStage('hep', { plan: applies('back.yaml') });
    const bench = commandBench([{ ...fakeStage('hep', { plan: applies('upgrade.yaml') }), undo }]);
    assert.equal(await bench.run('hep', '--undo', '-y'), 0);
    assert.deepEqual(
      bench.engine.calls.filter((call) => call.startsWith('exec')),
      [APPLY.replace('upgrade.yaml', 'back.yaml')],
    );
  });

  it('does not ask when there is nothing to change', async () => {
    const bench = commandBench([fakeStage('apply')]);
    assert.equal(await bench.run('apply'), 0);
    assert.deepEqual(bench.engine.calls, []);
  });

  it('stops before the first change when a check of any stage fails', async () => {
    const bench = commandBench([fakeStage('backup', { plan: applies('a.yaml') }), fakeStage('apply', { verdict: failed })]);
    assert.equal(await bench.run('run', '--yes', '--skip=preflight'), 3);
    assert.deepEqual(bench.engine.calls, []);
    assert.match(bench.out(), /× NS-001 the server is gone\n {4}bring it back\n {4}next: kubectl cluster-info/);
    assert.match(bench.out(), /Next: kubectl cluster-info\n$/);
  });

  describe('with a risk that may be taken on by name', () => {
    const risk = {
      status: 'failed',
      because: 'agents are cut off for a while',
      hint: 'plan a window',
      byName: true,
      evidence: [{ text: 'Deployment/a/typha' }],
    } as const;
    const benchOf = (typed: readonly string[], verdict: typeof risk | typeof failed = risk) => {
      const bench = commandBench([fakeStage('apply', { verdict, plan: applies('upgrade.yaml') })]);
      bench.answers = [true];
      bench.typed.push(...typed);
      return bench;
    };

    it('asks for the name, then as ever, and acts', async () => {
      const bench = benchOf(['Deployment/a/typha']);
      assert.equal(await bench.run('apply'), 0);
      assert.match(bench.questions[0] ?? '', /type Deployment\/a\/typha/);
      assert.equal(bench.questions.length, 2);
      assert.match(bench.err(), /NS-001: agents are cut off for a while/);
      assert.ok(bench.engine.calls.includes(APPLY));
    });

    for (const [title, typed] of [
      ['another name', ['yes']],
      ['nothing', []],
    ] as const)
      it(`changes nothing where ${title} is typed`, async () => {
        const bench = benchOf(typed);
        assert.equal(await bench.run('apply'), 3);
        assert.deepEqual(bench.engine.calls, []);
      });

    it('is never asked for with --yes, off a terminal, or for a failure that nobody can take on', async () => {
      const yes = benchOf(['Deployment/a/typha']);
      assert.equal(await yes.run('apply', '--yes'), 3);
      const off = benchOf(['Deployment/a/typha']);
      off.answers = undefined;
      assert.equal(await off.run('apply'), 3);
      const other = benchOf(['Deployment/a/typha'], failed);
      assert.equal(await other.run('apply'), 3);
      assert.deepEqual(
        [yes, off, other].flatMap(({ questions, engine }) => [...questions, ...engine.calls]),
        [],
      );
    });
  });

  it('shows the state of a single stage, except where its checks are all there is', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '--yes'), 0);
    assert.match(bench.out(), /^STAGE +STATE.*\napply +done/m);
    const looking = commandBench([fakeStage('preflight', { readOnly: true })]);
    assert.equal(await looking.run('preflight'), 0);
    assert.doesNotMatch(looking.out(), /^STAGE/m);
  });

  it('never asks for a read-only command and exits 3 on a failed check', async () => {
    const bench = commandBench([fakeStage('preflight', { readOnly: true, verdict: failed })]);
    assert.equal(await bench.run('preflight'), 3);
    assert.deepEqual(bench.questions, []);
  });

  it('says beside the failed checks what to do, on the cluster that was judged', async () => {
    const bench = commandBench([fakeStage('apply', { check: 'NS-606', verdict: failed, plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '--yes', '--context=prod'), 3);
    assert.match(bench.out(), /Next: kubectl --context=prod cluster-info\n$/);
    assert.match(
      bench.err(),
      /^error: checks failed\nfix what is marked ×, then run the same command again\nbefore you waive NS-606, read when that is safe: kubectl netsvc-upgrade explain NS-606\n/m,
    );
  });

  it('does not offer to waive where the page of each failed check says never', async () => {
    const bench = commandBench([fakeStage('apply', { check: 'NS-604', verdict: failed, plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '--yes'), 3);
    assert.match(bench.err(), /^error: checks failed\nfix what is marked ×, then run the same command again\n/m);
    assert.doesNotMatch(bench.err(), /waive/);
    assert.match(bench.out(), /^Nothing was changed by this command\.$/m);
  });

  it('takes a failed check by name', async () => {
    const bench = commandBench([fakeStage('preflight', { readOnly: true, verdict: failed })]);
    assert.equal(await bench.run('preflight', '--accept', 'ns-001'), 0);
    assert.match(bench.out(), /~ NS-001 accepted with --accept \(was: error\) the server is gone/);
  });

  it('gives the same exit code whatever -o says', async () => {
    for (const output of ['table', 'wide', 'json', 'yaml', 'markdown', 'html']) {
      const bench = commandBench([fakeStage('preflight', { readOnly: true, verdict: failed })]);
      assert.equal(await bench.run('preflight', '-o', output), 3, output);
      assert.notEqual(bench.out(), '', output);
    }
  });

  it('prints exactly one JSON document on stdout and no progress on stderr', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '--yes', '-o', 'json'), 0);
    assert.equal((JSON.parse(bench.out()) as { kind: string }).kind, 'RunReport');
    assert.equal(bench.err(), '');
  });

  it('says nothing of its progress with --quiet, and all the rest', async () => {
    const loud = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await loud.run('apply', '--yes'), 0);
    assert.match(loud.err(), /^\S+ apply: done in/m);
    const quiet = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await quiet.run('apply', '--yes', '--quiet'), 0);
    assert.deepEqual([quiet.err(), quiet.out()], ['', loud.out()]);
  });

  for (const typed of [['--quiet'], ['-o', 'json'], ['-o', 'yaml']] as const)
    it(`leaves progress out with ${typed.join(' ')}, but no warning`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
      const exec = {
        ...effects.exec,
        perform: async (_: unknown, __: unknown, { warn }: { warn(text: string): void }) => {
          warn('a node is cordoned');
          return {};
        },
      };
      bench.seams.loadEffects = async () => ({ ...effects, exec });
      assert.equal(await bench.run('apply', '--yes', ...typed), 0);
      assert.equal(bench.err(), 'Warning: a node is cordoned\n');
    });

  for (const output of ['markdown', 'html'])
    it(`has a line per change on stderr with -o ${output}, as for a person`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
      const beats: number[] = [];
      bench.seams.every = (ms) => {
        beats.push(ms);
        return () => undefined;
      };
      assert.equal(await bench.run('apply', '--yes', '-o', output), 0);
      assert.match(bench.err(), /^\S+ apply: done in/m);
      assert.deepEqual([...new Set(beats)], [15_000, 1_000]);
      assert.doesNotMatch(bench.out(), /done in/);
    });

  for (const [typed, level] of [
    [[], undefined],
    [['-v=1'], 1],
    [['-v1', '--quiet'], 1],
    [['-v=6'], 6],
    [['-v', '8'], 8],
    [['--v=0'], undefined],
  ] as const) {
    it(`tells what goes on underneath as far as ${typed.join(' ') || 'nothing'} asks for, without credentials`, async () => {
      const bench = commandBench([fakeStage('preflight', { readOnly: true })]);
      assert.equal(await bench.run('preflight', ...typed), 0);
      const trace = bench.requests[0]?.trace;
      assert.equal(trace?.level, level);
      trace?.say('GET https://me:hunter2@mirror.example/file 200');
      assert.equal(bench.err().includes('https://(hidden)@mirror.example'), level !== undefined);
      assert.ok(!bench.err().includes('hunter2'));
    });
  }

  it('says with -o json why it refuses in one line of JSON on stderr, beside the document', async () => {
    const unconfirmed = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    const blocked = commandBench([fakeStage('apply', { verdict: failed, plan: applies('upgrade.yaml') })]);
    const cases = [
      [unconfirmed, await unconfirmed.run('apply', '-o', 'json'), 'usage', 64],
      [blocked, await blocked.run('apply', '--yes', '-o', 'json'), 'blocked', 3],
    ] as const;
    for (const [bench, exit, code, number] of cases) {
      assert.equal(exit, number);
      assert.equal((JSON.parse(bench.out()) as { exit: { code: string } }).exit.code, code);
      const lines = bench.err().trim().split('\n');
      assert.equal(lines.length, 1, bench.err());
      const said = JSON.parse(lines[0] ?? '') as { kind: string; error: { code: string; exit: number; message: string } };
      assert.equal(said.kind, 'Error');
      assert.deepEqual([said.error.code, said.error.exit], [code, number]);
      assert.match(said.error.message, /nothing was changed|^checks failed$/);
    }
  });

  describe('and leaves steps to a person', () => {
    const ask = (id: string, awaited: boolean): Action => {
      const effect = { type: 'ask', instruction: `do ${id}`, ...(awaited ? { awaited: true as const } : {}) } as const;
      return { id, title: id, ref: '§4.4/4', undo: 'full', effect };
    };
    const steps = { actions: [ask('remove-old', true), ask('configure', false)] };

    it('stops for that person: exit 5, the steps, and the same command again', async () => {
      const bench = commandBench([fakeStage('cli', { plan: steps })]);
      assert.equal(await bench.run('cli', '--yes'), 5);
      assert.match(bench.err(), /^\S+ cli: 2 manual steps left, after /m);
      assert.match(bench.out(), /^cli +manual +2 manual steps left$/m);
      assert.match(bench.err(), /^error: 2 manual steps left\n$/m);
      assert.match(bench.out(), /^ {2}then {4}do remove-old\n {2}then {4}do configure\n/m);
      assert.doesNotMatch(bench.out(), /^MANUAL STEP/m, 'the error names them');
      assert.match(bench.out(), /Next: kubectl netsvc-upgrade cli\n$/);
    });

    it('goes on in a chain, and says at the end what is left', async () => {
      const bench = commandBench([fakeStage('cli', { plan: steps }), fakeStage('apply', { plan: applies('upgrade.yaml') })]);
      assert.equal(await bench.run('run', '--yes'), 0);
      assert.ok(bench.engine.calls.includes(APPLY));
      assert.deepEqual(bench.out().match(/^MANUAL STEP.*$/gm), ['MANUAL STEP  do remove-old', 'MANUAL STEP  do configure']);
      assert.equal(await bench.run('status'), 0);
      assert.match(bench.out(), /^cli +manual +0s ago +2 manual steps left\napply +done/m);
      assert.equal(await bench.run('cli', '--yes'), 5);
      assert.equal(await bench.run('status'), 0);
      assert.match(
        bench.out().split('Next:').at(-2) ?? '',
        /^cli +manual .*\napply +done/m,
        'in the order of the chain, though it came last',
      );
    });

    it('says what is left in a chain that has nothing to write any more, too', async () => {
      const verify = fakeStage('verify', { readOnly: true });
      const bench = commandBench([fakeStage('cli', { plan: steps }), fakeStage('apply', { plan: { skip: 'done' } }), verify]);
      assert.equal(await bench.run('run', '--yes'), 0);
      assert.deepEqual(bench.out().match(/^MANUAL STEP.*$/gm), ['MANUAL STEP  do remove-old', 'MANUAL STEP  do configure']);
      assert.deepEqual(bench.engine.saved, [], 'and writes nothing');
    });

    it('ends with 0 where only advice is left, and in a dry run', async () => {
      assert.equal(await commandBench([fakeStage('cli', { plan: { actions: [ask('configure', false)] } })]).run('cli', '--yes'), 0);
      assert.equal(await commandBench([fakeStage('cli', { plan: steps })]).run('cli', '--dry-run=server'), 0);
    });
  });

  it('says which commands only look, and so can do without a lasting work folder', async () => {
    const looks = async (...argv: readonly string[]) => {
      const bench = commandBench([fakeStage('preflight', { readOnly: true }), fakeStage('apply', { plan: applies('upgrade.yaml') })]);
      await bench.run(...argv);
      assert.equal(bench.requests.length, 1, argv.join(' '));
      return bench.requests[0]?.looksOnly ?? false;
    };
    for (const argv of [['preflight'], ['plan'], ['status'], ['apply', '--dry-run=server'], ['apply', '--dry-run=client']]) {
      assert.equal(await looks(...argv), true, argv.join(' '));
    }
    for (const argv of [['apply', '--yes'], ['run'], ['unlock']]) assert.equal(await looks(...argv), false, argv.join(' '));
  });

  it('keeps what a run was asked for, so that status names the command that continues it', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    await bench.run('run', '--yes', '--manifest-url', '/mirror', '--skip', 'cli', '--context', 'here', '--token', 'secret');
    assert.deepEqual(bench.engine.stored?.flags, ['--manifest-url=/mirror', '--skip=cli']);
    assert.equal(await bench.run('status'), 0, bench.err());
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade run --skip=cli\n$/);
    assert.equal(await bench.run('status', '--context', 'there'), 0);
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade run --context=there --skip=cli\n$/);
  });

  it('leads on after the part of the chain that was asked for, and not to the same part again', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') }), fakeStage('verify')]);
    await bench.run('run', '--yes', '--manifest-url', '/mirror', '--through', 'apply');
    assert.deepEqual(bench.engine.stored?.flags, ['--manifest-url=/mirror', '--through=apply']);
    assert.equal(await bench.run('status'), 0, bench.err());
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade run\n$/);
  });

  it('says of a plan that a person gave up that nothing was changed', async () => {
    for (const argv of [['plan'], ['run'], ['run', '--yes']]) {
      const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
      bench.engine.soft.abort();
      assert.equal(await bench.run(...argv), 130);
      const next = `Next: kubectl netsvc-upgrade ${argv[0]}`;
      assert.equal(bench.err(), `error: stopped: nothing was changed by this command\n${next}\n`);
      assert.equal(bench.engine.calls.includes(APPLY), false);
    }
  });

  it('says of what does not even end at Ctrl-C whether it was being written', async () => {
    /** Hangs at a look at the second stage, or at the command that it writes with. */
    const words = async (at: 'plan' | 'look' | 'write') => {
      const [bench, over] = [commandBench([]), new AbortController()];
      const hang = () => {
        over.abort();
        return new Promise<never>(() => undefined);
      };
      bench.seams.listenForInterrupts = () => ({
        ...interruptionOf(bench.engine.soft.signal, bench.engine.hard.signal),
        ...{ over: over.signal, release: () => undefined },
      });
      const second = fakeStage('apply', { plan: applies('upgrade.yaml') });
      const isNow = () => at === 'plan' || (at === 'look' && bench.engine.calls.includes('exec kubectl apply --server-side -f a'));
      const open: typeof second.open = (...args) => (isNow() ? hang() : second.open(...args));
      bench.chain = [fakeStage('crds', { plan: applies('a') }), { ...second, open }];
      if (at === 'write') Object.assign(bench.engine.ports.tools, { run: hang });
      assert.equal(await bench.run('run', '--yes'), 130);
      return bench
        .err()
        .split('\n')
        .find((line) => line.startsWith('error: '));
    };
    assert.equal(await words('plan'), 'error: stopped: nothing was changed by this command');
    assert.equal(await words('look'), 'error: stopped between two steps: nothing was being written');
    assert.equal(await words('write'), 'error: stopped at once: what was under way was given up');
  });

  it('says of a status that a person gave up that it was, and nothing of the run', async () => {
    const bench = commandBench([]);
    Object.assign(bench.engine.ports.records, { load: () => Promise.reject(interrupted()) });
    assert.equal(await bench.run('status'), 130);
    assert.match(bench.err(), /^error: stopped: nothing was changed by this command$/m);
    assert.doesNotMatch(bench.out(), /run/);
  });

  it('saves no plan that a person gave up, whatever a survey made of it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'given-up-'));
    const file = join(folder, 'plan.json');
    const bench = commandBench([]);
    const stage = fakeStage('apply', { plan: applies('upgrade.yaml') });
    const open: typeof stage.open = (...args) => {
      bench.engine.soft.abort();
      return stage.open(...args);
    };
    bench.chain = [{ ...stage, open }];
    assert.equal(await bench.run('plan', '--out', file), 130, bench.err());
    assert.equal(existsSync(file), false);
    assert.equal(bench.out(), '');
    rmSync(folder, { recursive: true });
  });

  it('only prints the plan under --dry-run=client and calls no tool', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('apply', '--dry-run=client'), 0);
    assert.deepEqual(bench.engine.calls, []);
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade apply\n$/);
  });

  it('exits 2 with --detailed-exitcode only while changes are pending', async () => {
    const pending = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await pending.run('plan', '--detailed-exitcode'), 2);
    assert.equal(await commandBench([fakeStage('apply')]).run('plan', '--detailed-exitcode'), 0);
  });

  it('keeps arguments with spaces and quotes whole', async () => {
    const bench = commandBench([fakeStage('preflight', { readOnly: true })]);
    await bench.run('preflight', '--kubeconfig', 'a b/it\'s "c"');
    assert.equal(bench.requests[0]?.flags.kubeconfig, 'a b/it\'s "c"');
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade plan '--kubeconfig=a b\/it'\\''s "c"'\n$/);
  });

  it('never repeats a token', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    await bench.run('apply', '--token=geheim', '--token', 'geheim');
    assert.doesNotMatch(bench.out() + bench.err(), /geheim/);
  });

  it('says how to continue when interrupted', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    interruptedRun(bench);
    assert.equal(await bench.run('apply', '--yes', '--context=prod'), 130);
    assert.match(bench.out(), /Next: kubectl netsvc-upgrade apply --context=prod\n$/);
  });
});

describe('a saved plan', () => {
  const folder = emptyFolder('netsvc-plan-');

  it('is run while it is still what would be done, and is stale (exit 7) afterwards', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    const file = join(folder, 'plan.json');
    assert.equal(await bench.run('plan', '--out', file), 0);
    assert.equal((JSON.parse(readFileSync(file, 'utf8')) as { kind: string }).kind, 'Plan');
    assert.equal(await bench.run('run', '--plan-file', file, '--yes'), 0);
    const later = commandBench([fakeStage('apply', { plan: applies('other.yaml') })]);
    assert.equal(await later.run('run', '--plan-file', file, '--yes'), 7);
    assert.deepEqual(later.engine.calls, []);
    assert.match(later.err(), /is stale: action apply\/upgrade\.yaml is not in the plan any more\n {2}action apply\/other\.yaml is new/);
  });

  it('is noted by the run, which goes on with it after it was cut off, and with no other command', async () => {
    const bench = commandBench([fakeStage('backup'), fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    const file = join(folder, 'plan.json');
    assert.equal(await bench.run('plan', '--out', file), 0);
    assert.equal(await bench.run('run', '--plan-file', file, '--yes'), 0);
    const { digest } = JSON.parse(readFileSync(file, 'utf8')) as { digest: string };
    assert.equal((await bench.engine.ports.records.load())?.plan, digest);
    bench.chain = [fakeStage('apply')];
    assert.equal(await bench.run('run', '--plan-file', file, '--yes'), 0);
    const [other] = (applies('other.yaml') as { actions: readonly Action[] }).actions;
    assert.ok(other);
    bench.chain = [fakeStage('apply', { plan: { actions: [{ ...other, id: 'upgrade.yaml' }] } })];
    bench.engine.calls.length = 0;
    assert.equal(await bench.run('run', '--plan-file', file, '--yes'), 7);
    assert.deepEqual(bench.engine.calls, []);
    assert.match(bench.err(), /is stale: action apply\/upgrade\.yaml does something else/);
  });

  it('is refused when the file is none', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
    assert.equal(await bench.run('run', '--plan-file', join(folder, 'none.json'), '--yes'), 64);
    assert.match(bench.err(), /^error: --plan-file \S+none\.json does not exist\nNext: kubectl netsvc-upgrade plan --out /);
  });

  for (const text of ['', '{', 'null', '[]', '{"kind":"Plan"}']) {
    it(`is refused before the cluster is asked anything when the file says ${text || 'nothing'}`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('upgrade.yaml') })]);
      const file = join(folder, 'plan.json');
      writeFileSync(file, text);
      assert.equal(await bench.run('run', '--plan-file', file, '--yes'), 64);
      assert.match(bench.err(), /^error: \S+plan\.json is not a saved plan: .+\nNext: kubectl netsvc-upgrade plan --out new-plan\.json\n$/);
    });
  }

  it('writes the report file in the format of its suffix', async () => {
    const bench = commandBench([fakeStage('preflight', { readOnly: true })]);
    const file = join(folder, 'report.md');
    assert.equal(await bench.run('preflight', '--report-file', file), 0);
    assert.match(readFileSync(file, 'utf8'), /\| ok \| NS-001 \(server reachable\) \|/);
  });
});
