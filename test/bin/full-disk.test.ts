import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describeWhere } from '../support/needs.ts';

const START = join(import.meta.dirname, '..', '..', 'bin', 'start.cjs');

describeWhere(existsSync('/dev/full') ? undefined : 'there is no /dev/full', 'a disk without room', () => {
  let full: number;
  before(() => {
    full = openSync('/dev/full', 'w');
  });
  after(() => closeSync(full));
  const ended = (args: readonly string[], out: 'pipe' | number, err: 'pipe' | number) =>
    spawnSync(process.execPath, [START, ...args], { stdio: ['ignore', out, err], encoding: 'utf8' });

  for (const line of ['explain NS-001', '--help', 'run --help', 'help run', '--version', 'completion bash'])
    it(`for the output of ${line} is one clear error, and no success`, () => {
      const { status, stderr } = ended(line.split(' '), full, 'pipe');
      assert.match(stderr, /^error: the output could not be written: ENOSPC\b.*\nmake room, then run the same command again\n$/);
      assert.equal(status, 1);
    });

  it('changes no exit code where only words are lost, or nothing is', () => {
    const { status, stderr } = ended(['nonsense'], full, 'pipe');
    assert.deepEqual([status, stderr.startsWith('error: unknown command "nonsense"')], [64, true]);
    assert.doesNotMatch(stderr, /^ +at |ENOSPC/m);
    assert.equal(ended(['nonsense'], 'pipe', full).status, 64);
  });

  it('for all of it is no success', () => {
    assert.equal(ended(['--help'], full, full).status, 1);
    assert.equal(ended(['explain', 'NS-001'], full, full).status, 1);
  });
});
