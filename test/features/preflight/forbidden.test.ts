import assert from 'node:assert/strict';
import { preflightChecks } from '../../../src/features/preflight/catalogue.ts';
import { attempt } from '../../../src/features/survey/reading.ts';
import { judgeAll } from '../../../src/kernel/judge.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { contextOf, healthy } from '../../fixtures/facts.ts';

const REQUEST = { verb: 'list', group: '', resource: 'nodes' };
const NODES = ['NS-421', 'NS-422', 'NS-423', 'NS-424', 'NS-425', 'NS-426'];

/** What the preflight says of nodes that may not be read. */
async function outcomes(allowed: boolean, accept: readonly { check: string }[] = []) {
  const refuse = () => Promise.reject(new ApiFailure(403, 'Forbidden', 'nodes is forbidden: User "viewer" cannot list resource "nodes"'));
  const nodes = await attempt(refuse);
  const access = { value: [{ request: REQUEST, allowed, why: 'survey', required: true }] };
  return judgeAll(preflightChecks, { ...healthy, nodes, access }, contextOf({ accept }));
}

describe('what an account may not read', () => {
  it('is told once, by the permissions that are missing', async () => {
    const findings = await outcomes(false);
    const open = findings.filter(({ outcome }) => outcome === 'error' || outcome === 'warning');
    assert.deepEqual(
      open.map(({ id }) => id),
      ['NS-009'],
    );
    for (const id of NODES) assert.ok(open[0]?.neededBy?.includes(id), id);
  });

  it('stays an error where the permissions are accepted, or said to be there', async () => {
    for (const findings of [await outcomes(false, [{ check: 'NS-009' }]), await outcomes(true)]) {
      const nodes = findings.find(({ id }) => id === 'NS-421');
      assert.equal(nodes?.outcome, 'error');
      assert.match(nodes?.message ?? '', /^could not be checked: nodes is forbidden/);
      assert.match(nodes?.hint ?? '', /permissions --for run/);
    }
  });
});
