import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { isGone, isRunning, pidHere, runIdentity } from '../../../src/adapters/lock/lease.ts';
import { itWhere } from '../../support/needs.ts';

describe('isGone', () => {
  const [who, , space] = runIdentity().split('/');
  const ended = spawnSync(process.execPath, ['-e', '0']).pid;

  const NO_SPACE = space === '' ? 'processes of this machine have no namespace to tell them by' : undefined;
  const IS_ROOT = process.getuid?.() === 0 ? 'root sees the programs of everybody' : undefined;

  it('is false for this very process', () => assert.equal(isGone(runIdentity()), false));

  itWhere(NO_SPACE, 'is true for an ended process of this boot and namespace', () => {
    assert.equal(isGone(`${who}/${ended}/${space}`), true);
  });

  for (const identity of [`a@b/${ended}/00000000`, `a@b/${ended}`, `a@b/${ended}/`, 'a@b/x/00000000', '', 'anything']) {
    it(`is false where it cannot know: ${identity || 'empty'}`, () => assert.equal(isGone(identity), false));
  }

  itWhere(NO_SPACE ?? IS_ROOT, 'is false for the process of another person, whose programs may be hidden from here', () => {
    assert.equal(isGone(`somebody@else/${ended}/${space}`), false);
  });

  it('knows running processes from ended ones', () => {
    assert.deepEqual([isRunning(process.pid), isRunning(1), isRunning(ended)], [true, true, false]);
  });

  itWhere(NO_SPACE, 'tells the process of a holder only where it is one of this machine', () => {
    assert.deepEqual([runIdentity(), `${who}/7/00000000`, 'anything', ''].map(pidHere), [process.pid, undefined, undefined, undefined]);
  });
});
