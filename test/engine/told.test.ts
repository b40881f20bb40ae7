import assert from 'node:assert/strict';
import { Told } from '../../src/engine/judged.ts';
import type { Action } from '../../src/kernel/action.ts';

const wait = (id: string, title: string): Action => ({
  ...{ id, title, ref: 'r', undo: 'full' },
  effect: { type: 'wait', until: { type: 'time-passed', ms: 1 }, timeoutMs: 1 },
});

describe('what the waits of a stage continued without', () => {
  /** Whether each round left the same as the one before it. */
  const rounds = (...all: readonly (readonly [title: string, left: readonly string[], changes?: boolean])[]) => {
    const told = new Told();
    return all.map(([title, left, changes = false]) => {
      told.beginRound();
      told.add({ left: Object.fromEntries(left.map((name) => [name, 'late'])) });
      return told.leavesTheSame([wait('wait', title)], changes);
    });
  };

  it('is the same by its names, whatever the title of the wait says', () =>
    assert.deepEqual(rounds(['wait for 3 pods', ['b', 'a']], ['wait for 2 pods', ['a', 'b']]), [false, true]));

  it('is another where something else was left by the same wait', () =>
    assert.deepEqual(rounds(['wait', ['a', 'b']], ['wait', ['b']], ['wait', ['b']]), [false, false, true]));

  it('is not the same where nothing was left, or something was changed', () =>
    assert.deepEqual(rounds(['wait', []], ['wait', []], ['wait', ['a']], ['wait', ['a'], true], ['wait', ['a']]), Array(5).fill(false)));
});
