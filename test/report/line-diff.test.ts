import assert from 'node:assert/strict';
import fc from 'fast-check';
import { unifiedLines } from '../../src/report/line-diff.ts';

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/;

/** The new text, made from the old one and its diff as `patch` does it, without any tolerance. */
function patched(old: readonly string[], diff: readonly string[]): readonly string[] {
  const now: string[] = [];
  let at = 0;
  let awaited = { old: 0, now: 0 };
  const taken = { old: 0, now: 0 };
  for (const line of diff) {
    const [isHunk, from, fromCount = '1', start, startCount = '1'] = HUNK.exec(line) ?? [];
    if (isHunk !== undefined) {
      assert.deepEqual(taken, awaited, 'the hunk before it has as many lines as its head says');
      awaited = { old: Number(fromCount), now: Number(startCount) };
      Object.assign(taken, { old: 0, now: 0 });
      const first = awaited.old === 0 ? Number(from) : Number(from) - 1;
      now.push(...old.slice(at, first));
      at = first;
      assert.equal(now.length, awaited.now === 0 ? Number(start) : Number(start) - 1, 'the hunk stands where its head says');
      continue;
    }
    const [sign, text] = [line[0], line.slice(1)];
    assert.ok(sign === ' ' || sign === '-' || sign === '+', line);
    if (sign !== '+') {
      assert.equal(old[at], text);
      at += 1;
      taken.old += 1;
    }
    if (sign !== '-') {
      now.push(text);
      taken.now += 1;
    }
  }
  assert.deepEqual(taken, awaited);
  return [...now, ...old.slice(at)];
}

/** Length of the longest common subsequence, by the table that everybody knows. */
function longestCommon(old: readonly string[], now: readonly string[]): number {
  let row = new Array<number>(now.length + 1).fill(0);
  for (const line of old) {
    const next = [0];
    for (const [index, other] of now.entries())
      next.push(line === other ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0));
    row = next;
  }
  return row[now.length] ?? 0;
}

const lines = (maxLength: number) => fc.array(fc.constantFrom('a', 'b', 'c', 'd', '', '  x: 1'), { maxLength });

describe('the diff of two texts, line by line', () => {
  it('applied to the old text gives the new one', () => {
    fc.assert(
      fc.property(lines(60), lines(60), fc.integer({ min: 0, max: 4 }), (old, now, around) => {
        assert.deepEqual(patched(old, unifiedLines(old, now, around)), now);
      }),
      { numRuns: 1000 },
    );
  });

  it('has no more lines than it must', () => {
    fc.assert(
      fc.property(lines(30), lines(30), (old, now) => {
        const kept = old.length - unifiedLines(old, now).filter((line) => line.startsWith('-')).length;
        assert.equal(kept, longestCommon(old, now));
      }),
      { numRuns: 1000 },
    );
  });

  it('is nothing where nothing differs, and the whole text where the other is empty', () => {
    assert.deepEqual(unifiedLines(['a', 'b'], ['a', 'b']), []);
    assert.deepEqual(unifiedLines([], ['a', 'b']), ['@@ -0,0 +1,2 @@', '+a', '+b']);
    assert.deepEqual(unifiedLines(['a'], []), ['@@ -1 +0,0 @@', '-a']);
  });

  it('begins at the key that comes, not at the last line of the one before', () => {
    const old = ['selector:', '  type: string', 'types:'];
    const now = ['selector:', '  type: string', 'tier:', '  type: string', 'types:'];
    assert.deepEqual(unifiedLines(old, now), ['@@ -1,3 +1,5 @@', ' selector:', '   type: string', '+tier:', '+  type: string', ' types:']);
  });

  it('takes changes that are near each other into one hunk', () => {
    const old = Array.from({ length: 30 }, (_, index) => `${index}`);
    const heads = (changed: readonly number[]) =>
      unifiedLines(
        old,
        old.map((line, index) => (changed.includes(index) ? `${line}!` : line)),
      ).filter((line) => line.startsWith('@@'));
    assert.deepEqual(heads([5, 12]), ['@@ -3,14 +3,14 @@']);
    assert.deepEqual(heads([5, 13]), ['@@ -3,7 +3,7 @@', '@@ -11,7 +11,7 @@']);
  });

  /** Without a bound the first needs more memory than there is. */
  it('is bounded for large definitions that have nothing, something or nearly all in common', () => {
    const made = (length: number, isNew: (index: number) => boolean) =>
      Array.from({ length }, (_, index) => `${isNew(index) ? 'new' : 'old'} ${index}`);
    const largest = made(40_000, () => false);
    const changed = made(40_000, () => true);
    assert.deepEqual(patched(largest, unifiedLines(largest, changed)), changed);
    const old = made(10_000, () => false);
    const most = made(10_000, (index) => index % 50 === 0);
    for (const now of [made(10_000, (index) => index % 2 === 0), most, old.toReversed(), old.map(() => 'type: string')])
      assert.deepEqual(patched(old, unifiedLines(old, now)), now);
    assert.equal(unifiedLines(old, most).filter((line) => line.startsWith('@@')).length, 200);
  }).timeout(60_000);
});
