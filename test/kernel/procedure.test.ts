import assert from 'node:assert/strict';
import { procedure } from '../../src/kernel/procedure.ts';

/** How many numbered steps and rules, or rows of a table (§3, §7), each section of the upgrade procedure for v3.32 has. */
const STEPS: Readonly<Record<string, number>> = {
  '§1': 5,
  '§3': 3,
  '§4.2': 2,
  '§4.3': 3,
  '§4.4': 7,
  '§4.5': 6,
  '§4.6': 2,
  '§4.7': 3,
  '§4.8': 3,
  '§7': 5,
  '§9': 8,
};
/** What they work on, and where artifacts come from: sections without steps of their own. */
const WHOLE = ['§2', '§4.1'];

describe('the procedure', () => {
  it('lists each step of the document once, in its order, and none that it does not have', () => {
    const steps = Object.entries(STEPS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}/${index + 1}`),
    );
    const inOrder = [...steps, ...WHOLE].sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
    assert.deepEqual(
      procedure.map((step) => step.ref),
      inOrder,
    );
  });
});
