import assert from 'node:assert/strict';
import { flagsOfRun } from '../../src/cli/carried.ts';
import { askedOf } from '../../src/cli/command-line.ts';
import { leftOutLines, withRecorded } from '../../src/cli/recorded-flags.ts';
import type { SessionFlags } from '../../src/cli/session.ts';
import { onOneCluster, refuseWithout, withoutUserCommands } from '../../src/cli/user-commands.ts';
import { Fault } from '../../src/kernel/fault.ts';
import type { RunRecord } from '../../src/kernel/run-record.ts';

const SAID = "./check.sh --key 'the secret'";
const flags = { probe: SAID, canary: '1', output: 'table' } as SessionFlags;
const asked = (...typed: readonly string[]) =>
  askedOf({ command: 'run', typed, flags, given: new Set(['probe', 'canary']), commands: ['run'] });
const { carried, typed } = asked('--canary', '1', '--probe', SAID);
const record = { clusterUid: 'here', startedBy: 'anna@host-1', flags: flagsOfRun(carried) } as unknown as RunRecord;

describe('a command of the user on the command line', () => {
  it('is in the next command, in one spelling', () => {
    assert.equal(typed, `run --canary 1 '--probe=./check.sh --key '\\''the secret'\\'''`);
    assert.equal(asked(`--probe=${SAID}`, '--canary', '1').typed, typed);
  });

  it('is in no record: only that there was one', () => {
    assert.deepEqual(record.flags, ['--canary=1', '--probe=(hidden)']);
    assert.deepEqual(
      withRecorded([], record, 'here').map(({ word }) => word),
      ['--canary=1'],
    );
    assert.deepEqual(leftOutLines('run', [], { ...record, flags: ['--accept=NS-1', ...(record.flags ?? [])] }, 'here'), [
      'the run also had --accept=NS-1; not in the command, because it decides what is trusted: add it yourself, if you still trust it',
      'the run was begun with --probe, and no run record holds a command',
      '  give it again: --probe COMMAND; a command that always succeeds, such as true, stands for none',
      '  what it was, only who began the run knows: anna@host-1',
    ]);
  });

  it('is in no document that is kept or sent, however it stands there', () => {
    const next = `kubectl netsvc-upgrade ${typed}`;
    const document = { next, argv: ['kubectl', `--probe=${SAID}`], suggestions: [`see why: ./check.sh --key 'the secret'`], n: 1 };
    const shown = withoutUserCommands(document, carried);
    assert.doesNotMatch(JSON.stringify(shown), /the secret|check\.sh/);
    assert.equal(shown.next, 'kubectl netsvc-upgrade run --canary 1 --probe=(hidden)');
    assert.deepEqual([shown.n, withoutUserCommands(document, [])], [1, document]);
  });

  it('is not started where kubectl in it would use another cluster than the run', () => {
    for (const flag of ['server', 'cluster'] as const)
      assert.throws(
        () => onOneCluster({ 'after-node': SAID }, { [flag]: 'x' }),
        (thrown) =>
          thrown instanceof Fault && thrown.code === 'usage' && thrown.message.includes(`--after-node is not started with --${flag}`),
      );
    assert.deepEqual(onOneCluster({ probe: SAID }, {}), { probe: SAID });
    assert.deepEqual(onOneCluster({}, { server: 'x' }), {});
  });

  it('that was given at the beginning has to be given again', () => {
    const has = (name: string) => name === 'probe';
    refuseWithout(record, flags, has);
    refuseWithout({ ...record, flags: ['--canary=1'] }, { canary: '1' }, has);
    refuseWithout(record, {}, () => false);
    assert.throws(
      () => refuseWithout(record, { canary: '1' }, has),
      (thrown) => thrown instanceof Fault && thrown.code === 'usage' && /begun with --probe, which is not given now/.test(thrown.message),
    );
    const hooked = { ...record, flags: ['--before-node=(hidden)', '--after-node=(hidden)', '--probe=(hidden)'] };
    assert.throws(
      () => refuseWithout(hooked, flags, () => true),
      ({ message, steps }: Fault) =>
        /begun with --before-node, --after-node, which are not given now/.test(message) &&
        /^give them again: --before-node COMMAND --after-node COMMAND; .*\nwhat they were, .* knows: anna@host-1$/.test(steps.join('\n')),
    );
  });
});
