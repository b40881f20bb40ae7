import assert from 'node:assert/strict';
import { removedPolicies } from '../../../src/features/policies/undo.ts';
import type { KubeObject } from '../../../src/kernel/object.ts';
import { changeTo } from '../../../src/kernel/object-change.ts';
import type { KeptItem } from '../../../src/kernel/run-record.ts';
import { object } from '../../fixtures/facts.ts';

/** A stored policy; its uid is the first part of what it is called here, and there is none where that begins with `-`. */
function policy(called: string): KubeObject {
  const [uid] = called.split('.');
  return object('crd.projectcalico.org/v1', 'GlobalNetworkPolicy/allow-all-upgrade', {
    metadata: called.startsWith('-') ? {} : { uid },
    spec: { selector: called },
  });
}

/** What each removal kept, `RUN: POLICY OTHER…`, in the order of keeping; and the policies that come back. */
const rows: Readonly<Record<string, readonly [kept: readonly string[], removed: readonly string[]]>> = {
  'nothing where nothing was removed': [[], []],
  'all that one removal saw': [['1: a b'], ['a', 'b']],
  'both of two that were deleted one after the other': [
    ['1: a b', '1: b a'],
    ['b', 'a'],
  ],
  'both where the second was deleted by another run': [
    ['1: a b', '2: b'],
    ['b', 'a'],
  ],
  'not what an earlier removal of the same run saw, which was taken back since': [['1: a', '1: c'], ['c']],
  'not what an earlier removal of another run saw': [['1: a', '2: c'], ['c']],
  'the latest state of a policy that was changed between two attempts': [['1: a.wide', '1: a.narrow'], ['a.narrow']],
  'not what was taken back before, though the removal since took two attempts': [
    ['1: a b', '1: b a', '1: c d', '1: d'],
    ['d', 'c'],
  ],
  'not one that was put back and changed since, though the other of the two was there all the time': [
    ['1: a.wide b', '1: c.narrow b', '1: b c.narrow'],
    ['b', 'c.narrow'],
  ],
  'all that were kept at once in key-value mode, without a uid': [['1: -a -b'], ['-a', '-b']],
  'both there, where an attempt came no further than to one of them': [
    ['1: -a -b', '1: -b'],
    ['-b', '-a'],
  ],
  'not what was taken back there before': [['1: -a', '1: -c'], ['-c']],
};

describe('what the latest removal of the temporary policy deleted', () => {
  for (const [title, [lines, removed]] of Object.entries(rows))
    it(`is ${title}`, async () => {
      const items = lines.map((line, index): KeptItem => {
        const [run, first = '', ...others] = line.split(/:? /);
        return {
          id: `2026-${run}/policy/delete-1#${index + 1}`,
          content: { changes: [first, ...others].map((called) => changeTo(policy(called), { '': undefined })) },
        };
      });
      const found = await removedPolicies({ keptWith: async () => items.toReversed() });
      assert.deepEqual(
        found.map(({ policy: { spec } }) => (spec as { readonly selector: string }).selector),
        removed,
      );
    });
});
