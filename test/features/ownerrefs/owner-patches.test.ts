import assert from 'node:assert/strict';
import fc from 'fast-check';
import { stripPatch } from '../../../src/features/ownerrefs/owner-patches.ts';
import { type OwnerNow, restorePatch } from '../../../src/features/ownerrefs/owner-restore.ts';
import { type JournalOwner, kindOf } from '../../../src/kernel/owner-journal.ts';
import { PatchFailure } from '../../../src/manifest/json-patch.ts';
import { entryFor, live, patched, reference, referenceLists, V3 } from '../../support/owner-entries.ts';

const same = (owner: JournalOwner): OwnerNow => ({ uid: `uid-of-v3:${owner.name}` });
const renewed = (owner: JournalOwner): OwnerNow => ({ uid: `new-uid-of-${owner.name}` });
const [a, b, web, other] = [reference('v3:a', { controller: true }), reference('v3:b'), reference('apps:web'), reference('apps:other')];

describe('taking owner references off', () => {
  it('tests the instance and each reference, and goes from the back', () => {
    const { ops, changed } = stripPatch(entryFor([a, web, b]), live([a, web, b]));
    assert.deepEqual(
      ops.map(({ op, path }) => `${op} ${path}`),
      [
        'test /metadata/uid',
        'test /metadata/ownerReferences/2',
        'remove /metadata/ownerReferences/2',
        'test /metadata/ownerReferences/0',
        'remove /metadata/ownerReferences/0',
      ],
    );
    assert.deepEqual([ops[1]?.value, ops[3]?.value, changed], [b, a, []]);
  });

  it('leaves all other references, whoever added or moved them, and is over after one patch', () => {
    fc.assert(
      fc.property(referenceLists, fc.array(fc.constantFrom(web, other), { maxLength: 2 }), fc.boolean(), (list, added, turned) => {
        const now = live(turned ? [...added, ...list.toReversed()] : [...list, ...added]);
        const entry = entryFor(list);
        const after = patched(now, stripPatch(entry, now).ops);
        assert.deepEqual(
          after.references,
          now.references.filter((one) => one.apiVersion !== V3),
        );
        assert.deepEqual(stripPatch(entry, after), { ops: [], changed: [] });
      }),
    );
  });

  it('leaves what was not recorded as it is now, and says so', () => {
    const now = live([{ ...a, controller: false }, b]);
    const { ops, changed } = stripPatch(entryFor([a, b]), now);
    assert.deepEqual(changed, [{ place: 0, reference: a, changed: 'other-flags' }]);
    assert.deepEqual(patched(now, ops).references, [{ ...a, controller: false }]);
  });

  it('takes a reference off that is there twice, both times', () => {
    const now = live([a, web, a]);
    assert.deepEqual(patched(now, stripPatch(entryFor([a, web, a]), now).ops).references, [web]);
  });

  it('does nothing to another object of that name', () => {
    const { ops, changed } = stripPatch(entryFor([a]), live([a], 'another'));
    assert.deepEqual([ops, changed.map((one) => one.changed)], [[], ['other-object']]);
  });

  it('fails as a whole if somebody changes the list between reading and patching', () => {
    const { ops } = stripPatch(entryFor([a, web, b]), live([a, web, b]));
    assert.throws(() => patched(live([web, a, b]), ops), PatchFailure);
  });
});

describe('putting owner references back', () => {
  it('restores exactly the list that was there', () => {
    fc.assert(
      fc.property(referenceLists, (list) => {
        const entry = entryFor(list);
        const bare = patched(live(list), stripPatch(entry, live(list)).ops);
        const back = patched(bare, restorePatch(entry, bare, same).ops);
        assert.deepEqual(back.references, list);
        assert.deepEqual(restorePatch(entry, back, same), { ops: [], changed: [] });
      }),
    );
  });

  it('keeps what others added, took off or moved in between, and each new UID comes once', () => {
    const between = fc.record({ added: fc.array(fc.constantFrom(web, other), { maxLength: 2 }), dropped: fc.nat(7), turned: fc.boolean() });
    fc.assert(
      fc.property(referenceLists, between, (list, { added, dropped, turned }) => {
        const entry = entryFor(list);
        const bare = patched(live(list), stripPatch(entry, live(list)).ops).references.filter((_, index) => index !== dropped);
        const now = live([...added, ...(turned ? bare.toReversed() : bare)]);
        const plan = restorePatch(entry, now, renewed);
        const after = patched(now, plan.ops);
        const recorded = entry.owners.map((owner) => ({ ...list[owner.place], ...renewed(owner) }));
        const mine = after.references.filter((one) => one.apiVersion === V3);
        assert.deepEqual([after.references.filter((one) => one.apiVersion !== V3), plan.changed], [now.references, []]);
        assert.deepEqual(mine.map(({ uid }) => uid).toSorted(), recorded.map(({ uid }) => uid).toSorted());
        for (const one of recorded)
          assert.deepEqual(
            mine.find(({ uid }) => uid === one.uid),
            one,
          );
        assert.deepEqual(restorePatch(entry, after, renewed), { ops: [], changed: [] });
      }),
    );
  });

  it('puts each behind the one that stood before it', () => {
    const entry = entryFor([web, a, b]);
    const now = live([other, web]);
    const after = patched(now, restorePatch(entry, now, same).ops);
    assert.deepEqual(after.references, [other, web, a, b]);
  });

  it('puts one at the end where everything that stood before it is gone', () => {
    const now = live([]);
    assert.deepEqual(patched(now, restorePatch(entryFor([web, other, a]), now, same).ops).references, [a]);
  });

  it('gives duplicates back as duplicates', () => {
    const entry = entryFor([b, web, b]);
    const now = live([web]);
    assert.deepEqual(patched(now, restorePatch(entry, now, same).ops).references, [b, web, b]);
  });

  it('follows an owner to its new name', () => {
    const now = live([]);
    const { ops } = restorePatch(entryFor([b]), now, () => ({ uid: 'n', name: 'renamed' }));
    assert.deepEqual(patched(now, ops).references, [{ ...b, name: 'renamed', uid: 'n' }]);
  });

  it('goes on where an earlier patch put only some back', () => {
    const entry = entryFor([a, web, b]);
    const now = live([web, { ...b, uid: 'new-uid-of-b' }]);
    const after = patched(now, restorePatch(entry, now, renewed).ops);
    assert.deepEqual(
      after.references.map(({ uid }) => uid),
      ['new-uid-of-a', web.uid, 'new-uid-of-b'],
    );
  });

  const cases: readonly [string, Parameters<typeof live>, (owner: JournalOwner) => OwnerNow | undefined, string][] = [
    ['an owner that is gone', [[web]], () => undefined, 'owner-gone'],
    ['another object of that name', [[web], 'another'], renewed, 'other-object'],
    ['the old reference that is back', [[web, a]], renewed, 'old-one-there'],
    ['one that was put back with other flags', [[{ ...a, uid: 'new-uid-of-a', controller: false }]], renewed, 'put-back-otherwise'],
    ['an object with another controller by now', [[{ ...other, controller: true }]], renewed, 'other-controller'],
  ];
  for (const [title, state, now, changed] of cases)
    it(`reports and leaves ${title}`, () => {
      assert.deepEqual(restorePatch(entryFor([a, web]), live(...state), now), { ops: [], changed: [{ place: 0, reference: a, changed }] });
    });

  it('gives an owner only one reference, where a dead one beside it had the same name', () => {
    const dead = { ...b, uid: 'long-gone' };
    const { ops, changed } = restorePatch(entryFor([b, dead]), live([]), renewed);
    assert.deepEqual(changed, [{ place: 1, reference: dead, changed: 'same-owner-twice' }]);
    assert.equal(patched(live([]), ops).references.length, 1);
  });

  it('does not mind what else is written to the object meanwhile', () => {
    const { ops } = restorePatch(entryFor([a]), live([]), same);
    assert.deepEqual(patched(live([]), ops, '8').references, [a]);
  });

  it('fails as a whole if the list is another by then, or no longer empty', () => {
    const entry = entryFor([a]);
    assert.throws(() => patched(live([web, other]), restorePatch(entry, live([web]), same).ops), PatchFailure);
    assert.throws(() => patched(live([web]), restorePatch(entry, live([]), same).ops, '8'), PatchFailure);
  });
});

describe('a recorded object', () => {
  it('names its resource and its scope', () => {
    assert.deepEqual(kindOf(entryFor([])), { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true });
  });
});
