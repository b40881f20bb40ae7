import assert from 'node:assert/strict';
import { type RemovalJudged, removalChecks } from '../../../src/features/policies/removal-checks.ts';
import type { Finding } from '../../../src/kernel/check.ts';
import { contextOf } from '../../fixtures/facts.ts';
import { judgeAll } from '../../support/judged-worlds.ts';

const harmless: RemovalJudged = {
  stored: ['default.allow-all-upgrade'],
  denied: { value: [] },
  told: true,
  cli: { program: 'calicoctl', provedBy: 'the same GUID' },
  owned: { value: { objects: [], unread: [] } },
  needsCli: true,
  release: contextOf().goal.release,
};

function judge(id: string, facts: Partial<RemovalJudged>): Finding {
  const found = judgeAll(removalChecks, { ...harmless, ...facts }, contextOf()).find((one) => one.id === id);
  assert.ok(found, id);
  return found;
}

describe('the checks of the removal of the temporary policy', () => {
  it('have nothing against a removal that cuts nobody off', () => {
    for (const { id, outcome } of judgeAll(removalChecks, harmless, contextOf())) assert.equal(outcome, 'ok', id);
  });

  it('do not apply where there is no such policy', () => {
    for (const id of ['NS-721', 'NS-726']) {
      assert.equal(judge(id, { stored: [] }).outcome, 'not-applicable', id);
    }
  });

  it('NS-721 stops a removal that a person told, and warns of one that nobody told', () => {
    const denied = { value: [{ host: 'node-1', detail: 'ingress' }] };
    const stopped = judge('NS-721', { denied });
    assert.deepEqual([stopped.outcome, stopped.evidence], ['error', [{ text: 'node-1', detail: 'ingress' }]]);
    assert.equal(judge('NS-721', { denied, told: false }).outcome, 'warning');
  });

  it('NS-723 stops where the CLI is needed and cannot be used, and only there', () => {
    const cli = { missing: 'calicoctl is not on PATH' };
    const stopped = judge('NS-723', { cli });
    assert.deepEqual([stopped.outcome, String(stopped.next)], ['error', 'kubectl netsvc-upgrade cli']);
    assert.match(stopped.message, /calicoctl is not on PATH/);
    assert.equal(judge('NS-723', { cli, needsCli: false }).outcome, 'not-applicable');
  });

  it('NS-723 asks for the CLI of the installed release before the upgrade, which `cli` does not install', () => {
    const before = judge('NS-723', { cli: { missing: 'no calicoctl of v3.27.5 was found' }, release: 'v3.27.5' });
    assert.deepEqual([before.outcome, String(before.next)], ['error', 'calicoctl version']);
    assert.match(before.hint ?? '', /^Before the upgrade the cluster takes that release alone: put calicoctl v3\.27\.5 on PATH/);
  });

  it('NS-726 stops a removal that a person told where the policy owns something, and says what it could not search', () => {
    const owned = { value: { objects: [{ text: 'ConfigMap/shop/config' }], unread: [] } };
    const stopped = judge('NS-726', { owned });
    assert.deepEqual([stopped.outcome, stopped.evidence], ['error', owned.value.objects]);
    assert.equal(String(stopped.next), 'kubectl netsvc-upgrade ownerrefs list --owner=GlobalNetworkPolicy/allow-all-upgrade');
    assert.equal(judge('NS-726', { owned, told: false }).outcome, 'warning');
    const unsearched = judge('NS-726', { owned: { value: { objects: [], unread: ['secrets'] } } });
    assert.deepEqual([unsearched.outcome, unsearched.message.includes('secrets')], ['warning', true]);
  });

  it('fail, rather than pass, where hosts could not be read', () => {
    const unread = { unread: 'forbidden' };
    assert.equal(judge('NS-721', { denied: unread }).outcome, 'error');
  });
});
