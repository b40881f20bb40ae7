import assert from 'node:assert/strict';
import { entryOf } from '../../../src/features/ownerrefs/journal-entries.ts';
import { muteOwners, type RestoreJudged, withMute } from '../../../src/features/ownerrefs/owner-facts.ts';
import type { OwnerWorld, ReferenceFate, StoredOwner } from '../../../src/features/ownerrefs/owner-fate.ts';
import { forgetChecks, restoreChecks } from '../../../src/features/ownerrefs/owner-restore-checks.ts';
import { journalChecks } from '../../../src/features/ownerrefs/owners-checks.ts';
import type { Way } from '../../../src/features/ownerrefs/removal-rule.ts';
import type { Options } from '../../../src/kernel/context.ts';
import type { Kind } from '../../../src/kernel/object.ts';
import { contextOf, object } from '../../fixtures/facts.ts';
import { clusterOf } from '../../support/cluster-of.ts';
import { fixOf, judgeAll } from '../../support/judged-worlds.ts';
import { DEPENDENT } from '../../support/owner-entries.ts';
import { NO_WAY } from '../../support/owner-way.ts';

const left = {
  object: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'front' },
  text: 'ConfigMap/shop/front',
  detail: 'NetworkSet/front',
};

const dead = { ...left, isStripped: true };

const clean: RestoreJudged = {
  idle: false,
  unread: [],
  ownerGone: [],
  changed: [],
  otherOwners: [],
  someAsExpected: false,
  unaddressed: [],
  neverRenamed: false,
  hold: undefined,
  namingHeld: 0,
  manifests: [],
  finalizers: [],
  outstanding: 0,
  stayOff: [],
  asBefore: false,
  unreadRecorded: [],
  dangling: [],
};

const all = [...restoreChecks, ...forgetChecks.filter(({ id }) => !restoreChecks.some((one) => one.id === id))];

function outcomes(facts: Partial<RestoreJudged>, options: Partial<Options> = {}): Readonly<Record<string, string>> {
  const findings = judgeAll(all, { ...clean, ...facts }, contextOf(options)).filter(({ outcome }) => outcome !== 'ok');
  return Object.fromEntries(findings.map(({ id, outcome }) => [id, outcome]));
}

describe('the checks before references are put back', () => {
  it('have nothing against a journal whose owners and objects are as they were left', () => {
    assert.deepEqual(outcomes({}), {});
  });

  it('do not apply where nothing was removed', () => {
    const idle = outcomes({ idle: true, finalizers: ['networksets.projectcalico.org'], dangling: [dead], ownerGone: [left] });
    assert.deepEqual(new Set(Object.values(idle)), new Set(['not-applicable']));
    // Where the journal is, is asked all the same.
    assert.equal(Object.keys(idle).length, all.length - journalChecks.length);
  });

  for (const [title, facts, expected] of [
    ['a kind that could not be searched', { unread: [{ kind: 'widgets.example.com', because: 'forbidden' }] }, { 'NS-741': 'error' }],
    ['an owner with another UID than computed', { otherOwners: [left] }, { 'NS-746': 'error' }],
    ['one owner among others that is another', { otherOwners: [left], someAsExpected: true }, { 'NS-746': 'warning' }],
    ['an owner that is gone', { ownerGone: [left] }, { 'NS-744': 'warning' }],
    ['an owner that is not found by its name', { unaddressed: [left] }, { 'NS-743': 'warning' }],
    ['an object that somebody changed', { changed: [left] }, { 'NS-745': 'warning' }],
    ['a manifest that names an owner of before', { manifests: [left] }, { 'NS-742': 'warning' }],
    ['finalizers that this account may not update', { finalizers: ['networksets.projectcalico.org'] }, { 'NS-747': 'warning' }],
    ['a reference with a dead UID', { dangling: [dead] }, { 'NS-749': 'error', 'NS-748': 'warning' }],
    ['an object that still lacks a reference', { outstanding: 1 }, { 'NS-748': 'warning' }],
    ['a recorded kind that could not be read', { unreadRecorded: ['ConfigMap'] }, { 'NS-748': 'warning' }],
  ] as const satisfies readonly (readonly [string, Partial<RestoreJudged>, object])[]) {
    it(`tell of ${title}`, () => assert.deepEqual(outcomes(facts), expected));
  }

  it('say for policies that nobody renames what a person does instead, or how to end it', () => {
    const hintOf = (neverRenamed: boolean) => {
      const finding = judgeAll(all, { ...clean, unaddressed: [left], neverRenamed }, contextOf()).find(({ id }) => id === 'NS-743');
      return `${finding?.hint} ${finding?.next}`;
    };
    assert.match(hintOf(false), /Nothing else names them: release the hold.* kubectl netsvc-upgrade explain NS-743$/);
    assert.match(
      hintOf(true),
      /DaemonSet calico-node, .*never rename.*default\.NAME \(group crd\.projectcalico\.org\).*Create the policy.*forget --accept NS-748\. kubectl netsvc-upgrade explain NS-743$/,
    );
  });

  it('let a hold be released only when nothing else names these policies', () => {
    const kind = { group: 'crd.netsvc.io', version: 'v1', kind: 'Settings', plural: 'settings', namespaced: false };
    const hold = { kind, name: 'default', field: 'spec.renaming.enabled' };
    const nextOf = (facts: Partial<RestoreJudged>) => {
      const [found] = judgeAll(all, { ...clean, unaddressed: [left], hold, ...facts }, contextOf()).filter(({ id }) => id === 'NS-743');
      return found && (fixOf(found) || String(found.next));
    };
    const strip = 'kubectl netsvc-upgrade ownerrefs strip';
    const release = `kubectl patch settings.crd.netsvc.io default --type=merge -p '{"spec":{"renaming":{"enabled":"Enabled"}}}'`;
    assert.deepEqual([nextOf({ namingHeld: 1 }), nextOf({ dangling: [dead] }), nextOf({})], [strip, strip, release]);
    assert.equal(nextOf({ dangling: [{ ...dead, isStripped: false }] }), release);
    // What could not be searched may name them, too; what it is comes before what strip would stop at.
    const unread = [{ kind: 'secrets', because: 'forbidden' }];
    const list = 'kubectl netsvc-upgrade ownerrefs list';
    assert.deepEqual([nextOf({ unread }), nextOf({ unread, namingHeld: 1 })], [list, list]);
  });

  it('name the question about finalizers as the API server takes it', () => {
    const facts = { ...clean, finalizers: ['networksets.projectcalico.org'] };
    const finding = judgeAll(all, facts, contextOf()).find(({ id }) => id === 'NS-747');
    assert.equal(String(finding?.next), 'kubectl auth can-i update networksets.projectcalico.org --subresource=finalizers');
  });

  it('send to strip only where it takes something off', () => {
    const told = (dangling: RestoreJudged['dangling']) => {
      const finding = judgeAll(all, { ...clean, dangling }, contextOf()).find(({ id }) => id === 'NS-749');
      return [
        finding?.hint?.replace('Garbage collection takes these objects at its next start at the latest. ', ''),
        String(finding?.next).split(' ').at(-1),
      ];
    };
    const [off, hand] = [dead, { ...left, isStripped: false }];
    const takeOff = 'Remove what the upgrade broke: it is recorded, and put back later.';
    assert.deepEqual(told([off]), [takeOff, 'strip']);
    const others = 'Correct the others in metadata.ownerReferences, or accept them by name.';
    assert.deepEqual(told([off, hand]), [`${takeOff} ${others}`, 'strip']);
    assert.deepEqual(told([hand]), ['Correct them in metadata.ownerReferences, or accept them by name.', 'list']);
  });

  for (const [what, facts, next] of [
    ['objects lack references', { outstanding: 2, stayOff: [left] }, 'restore'],
    ['they do so before the upgrade', { outstanding: 1, asBefore: true }, 'restore --undo'],
    ['only dangling references are left', { dangling: [dead] }, 'strip'],
    ['restore leaves all of them off', { outstanding: 1, stayOff: [left] }, 'list'],
    ['some of them could not be read', { outstanding: 1, stayOff: [left], unreadRecorded: ['secrets'] }, 'restore'],
  ] as const satisfies readonly (readonly [string, Partial<RestoreJudged>, string])[])
    it(`say how the journal ends where ${what}`, () => {
      const finding = judgeAll(forgetChecks, { ...clean, ...facts }, contextOf()).find(({ id }) => id === 'NS-748');
      assert.equal(String(finding?.next), `kubectl netsvc-upgrade ownerrefs ${next}`);
      assert.match(finding?.hint ?? '', /given up with ownerrefs forget --accept NS-748/);
    });

  it('let nobody forget a journal that is still needed', () => {
    assert.deepEqual(outcomes({ outstanding: 1 }, { forgetOwners: true }), { 'NS-748': 'error' });
  });
});

const policies: Kind = { group: 'projectcalico.org', version: 'v3', kind: 'NetworkPolicy', plural: 'networkpolicies', namespaced: true };

/** A reference to the policy `web`, alive by the list unless said. */
function fateOf(more: Partial<ReferenceFate> = {}): ReferenceFate {
  const reference = { apiVersion: 'projectcalico.org/v3', kind: 'NetworkPolicy', name: 'web', uid: 'u1' };
  const owner = { namespace: 'shop', name: 'web' };
  return { place: 0, reference, owner, servedUid: 'u1', isDoubtful: true, ...more };
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
  const { objects, unread } = await withMute(cluster, listed);
  const asked = requests.filter((one) => one.startsWith('get ')).length;
  return [objects[0]?.fates[0]?.isMute === true, unread.map(({ kind, because }) => `${kind}: ${because}`), asked];
}

describe('an owner that lists show', () => {
  it('is mute where its name finds nothing, or another of that name', async () => {
    assert.deepEqual(await judged(fateOf()), [true, [], 1]);
    assert.deepEqual(await judged(fateOf(), 'u2'), [true, [], 1]);
  });

  it('is not mute where its name finds it', async () => {
    assert.deepEqual(await judged(fateOf(), 'u1'), [false, [], 1]);
  });

  it('is not asked for where it is stored under its own name, or is dead', async () => {
    assert.deepEqual(await judged(fateOf({ isDoubtful: false })), [false, [], 0]);
    assert.deepEqual(await judged(fateOf({ servedUid: 'u2' })), [false, [], 0]);
  });

  it('is neither where nobody answers: its kind counts as unread', async () => {
    const refuses = { 'networkpolicies.projectcalico.org': 403 };
    const kind = 'NetworkPolicy.projectcalico.org';
    assert.deepEqual(await judged(fateOf(), 'u1', { refuses }), [false, [`${kind}: networkpolicies.projectcalico.org refused (403)`], 1]);
    assert.deepEqual(await judged(fateOf(), 'u1', { kinds: [] }), [false, [`${kind}: the server does not serve it`], 0]);
  });
});

describe('a recorded owner that is not found by its name', () => {
  const [shown, kept] = ['projectcalico.org', 'crd.projectcalico.org'];
  /** Whether it is mute where lists show policy `web` as `u1`, and a question by name finds nothing. */
  const isMute = async (group: string, way: Partial<Way>, stored?: StoredOwner) => {
    const reference = { apiVersion: `${group}/v1`, kind: 'NetworkPolicy', name: 'web', uid: 'u1' };
    const entry = entryOf(DEPENDENT, [reference], new Map([[0, { namespace: 'shop', name: 'web' }]]));
    const owners = {
      namespaced: true,
      served: new Map([['shop/web', 'u1']]),
      ...(stored ? { stored: new Map([['shop/web', stored]]) } : {}),
    };
    const world: OwnerWorld = { ...{ apiGroup: shown, crdGroup: kept, kinds: { NetworkPolicy: owners } }, ...NO_WAY, ...way };
    return (await muteOwners(clusterOf([], { kinds: [policies] }).cluster, [entry], world, true)).size > 0;
  };
  const waiting: StoredOwner = { name: 'web', storedName: 'default.web', uid: 'u1', renamePending: true };

  it('is a policy under an old name, or one of which nobody sees under which name a key-value store keeps it', async () => {
    assert.deepEqual([await isMute(shown, {}, waiting), await isMute(shown, { keepsUids: true })], [true, true]);
    assert.equal(await isMute(shown, {}, { ...waiting, storedName: 'web', renamePending: false }), false);
  });

  it('is a stored one that waits for its new name, and none that nobody renames', async () => {
    assert.deepEqual([await isMute(kept, {}, waiting), await isMute(kept, { renames: false }, waiting)], [true, false]);
  });
});
