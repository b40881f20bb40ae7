import assert from 'node:assert/strict';
import fc from 'fast-check';
import { restorePatch } from '../../../src/features/ownerrefs/owner-restore.ts';
import { byKey, isRecorded, stripPlan, unrecorded } from '../../../src/features/ownerrefs/owner-strip.ts';
import type { OwnerReference } from '../../../src/kernel/object.ts';
import { entryKey, type JournalEntry, type LiveReferences, notedBack } from '../../../src/kernel/owner-journal.ts';
import { mergeEntries } from '../../../src/kernel/owner-merge.ts';
import { DEPENDENT, entryFor, live, patched, reference, V3 } from '../../support/owner-entries.ts';

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
      return one.apiVersion === V3 ? [{ place, reference: one, owner, fate: 'converted', breaks: true } as const] : [];
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
