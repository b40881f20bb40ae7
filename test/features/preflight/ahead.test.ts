import assert from 'node:assert/strict';
import type { WholePreflight } from '../../../src/features/preflight/catalogue.ts';
import { aheadOfApply } from '../../../src/features/preflight/catalogue.ts';
import { contextOf, healthy } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

const outcomes = (facts: Partial<WholePreflight>) =>
  Object.fromEntries(judgeAll(aheadOfApply, { ...healthy, ...facts }, contextOf()).map(({ id, outcome }) => [id, outcome]));

describe('what a preflight says of the checks of apply', () => {
  it('is nothing where apply follows in the same command', () =>
    assert.deepEqual([...new Set(Object.values(outcomes({ ahead: undefined })))], ['not-applicable']));

  it('is nothing more where the target could not be read: NS-601 says why', () => {
    const unread = { unread: '404' };
    assert.deepEqual([...new Set(Object.values(outcomes({ ahead: unread, target: unread })))], ['not-applicable']);
  });

  it('is one error where it could not be compared with what is installed', () => {
    const found = outcomes({ ahead: { unread: '--base x is not there' } });
    assert.deepEqual(
      Object.entries(found).filter(([, outcome]) => outcome !== 'not-applicable'),
      [['NS-205', 'error']],
    );
  });
});
