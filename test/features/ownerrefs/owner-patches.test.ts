import assert from 'node:assert/strict';
import fc from 'fast-check';
import { entryKey, type JournalOwner, kindOf, type LiveReferences, notedBack } from '../../../src/features/ownerrefs/journal-entries.ts';
import { mergeEntries } from '../../../src/features/ownerrefs/journal-form.ts';
import { type OwnerNow, restorePatch, stripPatch } from '../../../src/features/ownerrefs/owner-patches.ts';
import { byKey, isRecorded, stripPlan, unrecorded } from '../../../src/features/ownerrefs/owner-strip.ts';
import type { JournalEntry } from '../../../src/kernel/journal.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { PatchFailure } from '../../../src/manifest/json-patch.ts';
import { DEPENDENT, entryFor, live, patched, reference, referenceLists, V3 } from '../../support/owner-entries.ts';

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

const NAMES = ['a', 'b', 'c'];
const key = entryKey({ object: DEPENDENT });

/** One object, its journal and its owners; every step is what one command does, cut off after so many of its writes. */
class World {
  now: LiveReferences = live([reference('apps:keeper'), ...NAMES.map((name) => reference(`v3:${name}`, { blockOwnerDeletion: true }))]);
  /** Removed by a person, who means it. */
  readonly meant = new Set<string>();
  readonly #appends: JournalEntry[] = [];
  #age = 0;

  get names(): readonly string[] {
    return this.now.references.flatMap(({ name, apiVersion }) => (apiVersion === V3 ? [name] : []));
  }

  uidOf(name: string): string {
    return this.#age === 0 ? `uid-of-v3:${name}` : `uid-of-v3:${name}-${this.#age}`;
  }

  get #journal(): readonly JournalEntry[] {
    return mergeEntries(this.#appends);
  }

  strip(writes: number): void {
    const owned = { object: DEPENDENT, references: this.now.references };
    const fates = this.now.references.flatMap((one, place) => {
      // By what is stored, one reference is known under all its UIDs.
      const owner = { namespace: 'shop', name: one.name, backingUid: `backing ${one.name}` };
      return one.apiVersion === V3 ? [{ place, reference: one, owner, removal: 'uid-change' } as const] : [];
    });
    const { entries, patches } = stripPlan([{ owned, fates }], () => true, this.#journal);
    if (writes > 0) this.#record(entries);
    if (writes < 2) return;
    assert.deepEqual(unrecorded(patches, this.#journal), [], 'the gate');
    for (const { patch } of patches) this.now = patched(this.now, patch);
  }

  restore(writes: number): void {
    const entry = byKey(this.#journal).get(key);
    if (!entry) return;
    const { ops, changed } = restorePatch(entry, this.now, ({ name }) => ({ uid: this.uidOf(name) }));
    if (writes > 0 && ops.length > 0) this.now = patched(this.now, ops);
    const left = new Set(changed.map(({ place }) => place));
    const back = entry.owners.filter(({ place }) => !left.has(place));
    const noted = notedBack(entry, new Map(back.map(({ place, name }) => [place, this.uidOf(name)])));
    if (writes > 1 && noted) this.#record([noted]);
  }

  /**
   * UIDs change only while nothing is on: before that the chain does not go on. What was put back under another UID does not count
   * as put back any more: too much comes back rather than too little.
   */
  upgrade(): void {
    if (this.names.length > 0) return;
    this.#age += 1;
    this.meant.clear();
  }

  /** What is on and noted as back goes on purpose; nothing else can be told from what a strip took off. */
  person(name: string): void {
    const [entry] = this.#journal;
    const isNoted = entry?.owners.some((one) => one.name === name && one.restoredUid === this.uidOf(name));
    if (!isNoted || !this.names.includes(name)) return;
    this.now = live(this.now.references.filter((one: OwnerReference) => one.apiVersion !== V3 || one.name !== name));
    this.meant.add(name);
  }

  #record(entries: readonly JournalEntry[]): void {
    this.#appends.push(...entries);
    const stored = byKey(this.#journal);
    for (const entry of entries) assert.ok(isRecorded(entry, stored.get(entryKey(entry))), 'read back');
  }
}

const writes = fc.constantFrom(0, 1, 2, 2);
const step: fc.Arbitrary<(world: World) => void> = fc.oneof(
  writes.map((count) => Object.assign((world: World) => world.strip(count), { toString: () => `strip ${count}` })),
  writes.map((count) => Object.assign((world: World) => world.restore(count), { toString: () => `restore ${count}` })),
  fc.constant(Object.assign((world: World) => world.upgrade(), { toString: () => 'upgrade' })),
  fc.constantFrom(...NAMES).map((name) => Object.assign((world: World) => world.person(name), { toString: () => `person ${name}` })),
);

describe('what is noted as put back', () => {
  it('stays off once a person took it off, and nothing that a strip took off does, wherever either was cut off', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        const world = new World();
        for (const one of [...steps, (last: World) => last.restore(2)]) one(world);
        const wanted = NAMES.filter((name) => !world.meant.has(name));
        assert.deepEqual(world.names, wanted);
        for (const one of world.now.references) if (one.apiVersion === V3) assert.equal(one.uid, world.uidOf(one.name));
      }),
      { numRuns: 300 },
    );
  });

  it('is neither recorded enough for a strip, nor let through to one, until it is recorded anew', () => {
    const [a, b] = [reference('v3:a'), reference('v3:b')];
    const entry = entryFor([a, b]);
    const noted = notedBack(entry, new Map([[0, a.uid]]));
    assert.ok(noted);
    assert.deepEqual([isRecorded(entry, noted), isRecorded(noted, entry), isRecorded(noted, noted)], [false, false, true]);
    const servedAnew = { ...entry, object: { ...entry.object, uid: 'another', backingUid: entry.object.uid } };
    assert.equal(isRecorded(servedAnew, entry), false, 'the same stored object under another UID of the v3 API');
    const patch = [
      { op: 'test', path: '/metadata/ownerReferences/0', value: a } as const,
      { op: 'remove', path: '/metadata/ownerReferences/0' } as const,
    ];
    const sent = { target: DEPENDENT, patch, uid: DEPENDENT.uid };
    assert.deepEqual([unrecorded([sent], [noted]), unrecorded([sent], mergeEntries([noted, entry]))], [[sent], []]);
    assert.equal(notedBack(noted, new Map([[0, a.uid]])), undefined);
  });

  it('does not make one of two places of one owner the other: what is there is not added, what is in doubt comes back', () => {
    const [first, second] = [reference('v3:a'), reference('v3:a', { uid: 'another' })];
    const noted = notedBack(entryFor([first, second]), new Map([[0, 'now']]));
    assert.ok(noted);
    const on = (references: readonly OwnerReference[]) => {
      const { ops, changed } = restorePatch(noted, live(references), () => ({ uid: 'now' }));
      return [ops.length > 0, changed.map(({ place, changed: why }) => [place, why])];
    };
    assert.deepEqual(on([{ ...first, uid: 'now' }]), [false, [[1, 'same-owner-twice']]]);
    assert.deepEqual(on([]), [true, [[0, 'taken-off-since']]]);
  });

  it('counts only under the UID that the owner still has', () => {
    const a = reference('v3:a');
    const noted = notedBack(entryFor([a]), new Map([[0, 'first']]));
    assert.ok(noted);
    const at = (uid: string) => restorePatch(noted, live([]), () => ({ uid }));
    assert.deepEqual([at('first').ops, at('first').changed.map(({ changed }) => changed)], [[], ['taken-off-since']]);
    assert.deepEqual([at('second').ops.length > 0, at('second').changed], [true, []]);
  });
});
