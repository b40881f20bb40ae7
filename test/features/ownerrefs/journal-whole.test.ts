import assert from 'node:assert/strict';
import { journalChecks } from '../../../src/features/ownerrefs/owners-checks.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

describe('NS-753 journal of owner references whole', () => {
  const checks = journalChecks.filter(({ id }) => id === 'NS-753');
  const judged = (missing: number) => {
    const lacking = missing === 0 ? {} : { lacking: { objects: 3, references: 4, parts: ['0', '1'], missing } };
    return judgeAll(checks, { objects: 3, ...lacking } as never, contextOf())[0] ?? assert.fail('no finding');
  };

  it('passes where nothing is missing', () => assert.equal(judged(0).outcome, 'ok'));

  it('says whether a part is gone or all of it, and what only it knew', () => {
    assert.match(
      judged(1).message,
      /^the journal lacks 1 of 2 parts: the run record says that 4 owner references of 3 objects are removed/,
    );
    assert.match(judged(2).message, /^the journal is gone: /);
    assert.equal(String(judged(2).next), 'kubectl netsvc-upgrade explain NS-753');
  });
});
