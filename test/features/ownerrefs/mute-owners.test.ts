import assert from 'node:assert/strict';
import { withMute } from '../../../src/features/ownerrefs/owner-facts.ts';
import type { ReferenceFate } from '../../../src/features/ownerrefs/owner-fate.ts';
import type { Kind } from '../../../src/kernel/object.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';

const policies: Kind = { group: 'projectcalico.org', version: 'v3', kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true };
const { profile } = contextOf();

/** A reference to the policy `web`, alive by the list unless said. */
function fateOf(more: Partial<ReferenceFate> = {}, group = 'projectcalico.org/v3'): ReferenceFate {
  const reference = { apiVersion: group, kind: 'NetworkPolicy', name: 'web', uid: 'u1' };
  const owner = { namespace: 'shop', name: 'web' };
  return { place: 0, reference, owner, fate: 'unaddressed', servedUid: 'u1', breaks: true, ...more };
}

/** Whether it is mute, what is unread, and how many requests it took; the server finds `web` with this UID, if any. */
async function judged(
  fate: ReferenceFate,
  uid?: string,
  { refuses = {}, kinds = [policies] }: { refuses?: object; kinds?: readonly Kind[] } = {},
) {
  const found = uid === undefined ? [] : [object('projectcalico.org/v3', 'NetworkPolicy/shop/web', { metadata: { uid } })];
  const { cluster, requests } = clusterOf(found, { kinds: [...kinds], refuses: { ...refuses } });
  const listed = { objects: [{ owned: { object: DEPENDENT, references: [fate.reference] }, fates: [fate] }], unread: [], kinds: 1 };
  const { objects, unread } = await withMute(cluster, listed, profile);
  const asked = requests.filter((one) => one.startsWith('get ')).length;
  return [objects[0]?.fates[0]?.isMute === true, unread.map(({ kind, because }) => `${kind}: ${because}`), asked];
}

describe('an owner that lists show', () => {
  for (const fate of ['unaddressed', 're-created'] as const) {
    it(`is mute where its name finds nothing, or another of that name (${fate})`, async () => {
      assert.deepEqual(await judged(fateOf({ fate })), [true, [], 1]);
      assert.deepEqual(await judged(fateOf({ fate }), 'u2'), [true, [], 1]);
    });

    it(`is not mute where its name finds it (${fate})`, async () => {
      assert.deepEqual(await judged(fateOf({ fate }), 'u1'), [false, [], 1]);
    });
  }

  it('is not asked for where it is stored under its own name, is dead, or is the stored one itself', async () => {
    assert.deepEqual(await judged(fateOf({ fate: 'kept' })), [false, [], 0]);
    assert.deepEqual(await judged(fateOf({ servedUid: 'u2' })), [false, [], 0]);
    assert.deepEqual(await judged(fateOf({ fate: 're-created' }, 'crd.projectcalico.org/v1')), [false, [], 0]);
  });

  it('is neither where nobody answers: its kind counts as unread', async () => {
    const refuses = { 'networkpolicies.projectcalico.org': 403 };
    const kind = 'NetworkPolicy.projectcalico.org';
    assert.deepEqual(await judged(fateOf(), 'u1', { refuses }), [false, [`${kind}: networkpolicies.projectcalico.org refused (403)`], 1]);
    assert.deepEqual(await judged(fateOf(), 'u1', { kinds: [] }), [false, [`${kind}: the server does not serve it`], 0]);
  });
});
