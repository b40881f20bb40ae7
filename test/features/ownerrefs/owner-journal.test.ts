import assert from 'node:assert/strict';
import { assertRecorded, forgetOwners, recordOwners } from '../../../src/features/ownerrefs/effects.ts';
import { stripPatch } from '../../../src/features/ownerrefs/owner-patches.ts';
import type { GuardedPatch, PatchAll } from '../../../src/kernel/action.ts';
import { Fault } from '../../../src/kernel/fault.ts';
import type { Journal, JournalEntry, JournalStore } from '../../../src/kernel/journal.ts';
import type { JsonPatchOp } from '../../../src/kernel/object.ts';
import { ApiFailure } from '../../../src/kernel/ports.ts';
import { DEPENDENT, entryFor, live, reference } from '../../support/owner-entries.ts';

const [a, b, web] = [reference('v3:a'), reference('v3:b', { controller: true }), reference('apps:web')];

/** A journal that holds these, and keeps nothing of what is appended; what was asked of it, in order. */
function holding(entries: readonly JournalEntry[] | undefined, more: Partial<Journal & JournalStore> = {}) {
  const asked: string[] = [];
  const journal: Journal = {
    version: 1,
    clusterUid: 'uid',
    profile: 'calico',
    runIds: [],
    parts: [],
    entries: entries ?? [],
    readFrom: 'x',
  };
  const store: JournalStore = {
    async load() {
      asked.push('load');
      return entries && { ...journal, ...more };
    },
    async append(all) {
      asked.push(`append ${all.length}`);
    },
    archive: more.archive ?? (async (file) => file),
    leftOver: async () => false,
    async forget() {
      asked.push('forget');
    },
  };
  return { ports: { journal: store }, asked };
}

const patchesOf = (...patches: readonly GuardedPatch[]): PatchAll => ({
  type: 'patch-all',
  what: 'off',
  patches,
  recordedIn: 'owner-journal',
});
const guarded = (patch: readonly JsonPatchOp[], uid = DEPENDENT.uid): GuardedPatch => ({ target: DEPENDENT, patch, uid });
const off = (list: readonly (typeof a)[]) => guarded(stripPatch(entryFor(list), live(list)).ops);

describe('what was recorded', () => {
  it('counts only when the journal, read again, holds every reference in the same form', async () => {
    const wanted = { type: 'record-owners', entries: [entryFor([a, b])] } as const;
    const good = holding([entryFor([a, web, b])]);
    const { detail, notes } = await recordOwners(good.ports, wanted);
    assert.deepEqual([detail, notes], ['1 object recorded', { stripped: { objects: 1, references: 2, parts: [] } }]);
    assert.deepEqual(good.asked, ['append 1', 'load']);
    const other = { ...DEPENDENT, uid: 'made-anew' };
    for (const stored of [undefined, [], [entryFor([a])], [entryFor([a, { ...b, controller: false }])], [entryFor([a, b], other)]])
      await assert.rejects(
        recordOwners(holding(stored).ports, wanted),
        (thrown) => thrown instanceof Fault && /1 of 1 object missing/.test(thrown.message),
        JSON.stringify(stored),
      );
  });

  it('is copied whole to a new file on this machine once the journal holds it, and not before', async () => {
    const files: string[] = [];
    const archive = async (file: string) => {
      files.push(file);
      return file;
    };
    const wanted = { type: 'record-owners', entries: [entryFor([a])], archive: '/backup/owner-references-r1.json' } as const;
    await assert.rejects(recordOwners(holding([], { archive }).ports, wanted));
    assert.deepEqual(files, []);
    const { detail } = await recordOwners(holding([entryFor([a])], { archive }).ports, wanted);
    assert.deepEqual([files, detail], [[wanted.archive], `1 object recorded; all of it is also in ${wanted.archive}`]);
  });
});

describe('a note of what is back', () => {
  const note = { type: 'record-owners', entries: [entryFor([a])], isNote: true } as const;
  const refusing = (status: number) => {
    const { ports } = holding([entryFor([a])]);
    const append = async () => {
      throw new ApiFailure(status, 'No', `HTTP ${status}`);
    };
    return { journal: { ...ports.journal, append } };
  };

  it('that the server refuses is told, and ends nothing', async () => {
    assert.match((await recordOwners(refusing(403), note)).detail ?? '', /^not noted, .* may come back: HTTP 403$/);
  });

  it('that may come through when it is sent again fails, as does whatever strip records', async () => {
    await assert.rejects(recordOwners(refusing(503), note), /HTTP 503/);
    await assert.rejects(recordOwners(refusing(403), { ...note, isNote: false }), /HTTP 403/);
  });
});

describe('the last gate before references go', () => {
  const stopped = async (patch: GuardedPatch, ...journal: Parameters<typeof holding>) =>
    assert.rejects(
      assertRecorded(holding(...journal).ports, patchesOf(patch)),
      (thrown) => thrown instanceof Fault && /does not hold the owner references of ConfigMap\/shop\/dependent$/.test(thrown.message),
    );

  it('opens for what the journal in the cluster holds', async () => {
    const { ports, asked } = holding([entryFor([a, web, b])]);
    await assertRecorded(ports, patchesOf(off([a, web, b]), off([b])));
    assert.deepEqual(asked, ['load']);
  });

  it('stays shut where there is no journal', async () => {
    await stopped(off([a]), undefined);
  });

  it('stays shut for a reference that is not recorded as removed, in the same form, of this very object', async () => {
    await stopped(off([a, b]), [entryFor([a])]);
    await stopped(off([b]), [entryFor([reference('v3:b')])]);
    await stopped(off([a]), [{ ...entryFor([a]), removed: [], owners: [] }]);
    await stopped(off([a]), [entryFor([a], { ...DEPENDENT, uid: 'made-anew' })]);
  });

  it('stays shut for a patch that does not say what it removes, or that removes more', async () => {
    const [test, ...rest] = off([a]).patch;
    assert.ok(test);
    await stopped(guarded([test, ...rest.filter(({ op }) => op !== 'test')]), [entryFor([a])]);
    await stopped(guarded([{ op: 'remove', path: '/metadata/ownerReferences' }]), [entryFor([a])]);
    await stopped(guarded([{ op: 'replace', path: '/metadata/ownerReferences', value: [] }]), [entryFor([a])]);
    await stopped(guarded([{ op: 'add', path: '/metadata/ownerReferences', value: [] }]), [entryFor([a])]);
    await stopped(guarded([{ op: 'remove', path: '/metadata/annotations' }]), [entryFor([a])]);
    const place = (at: number) => `/metadata/ownerReferences/${at}`;
    await stopped(guarded([test, { op: 'test', path: place(1), value: a }, { op: 'remove', path: place(0) }]), [entryFor([a])]);
    await stopped(guarded([test, { op: 'test', path: place(0), value: a }, { op: 'replace', path: place(0), value: b }]), [entryFor([a])]);
    await stopped(guarded([...off([a]).patch, { op: 'remove', path: '/metadata/ownerReferences/0' }]), [entryFor([a])]);
  });

  it('counts the others that are not there', async () => {
    const { ports } = holding([]);
    await assert.rejects(assertRecorded(ports, patchesOf(off([a]), off([b]))), /of ConfigMap\/shop\/dependent and 1 more$/);
  });

  it('is no matter for patches that take nothing off', async () => {
    const { ports, asked } = holding(undefined);
    await assertRecorded(ports, { type: 'patch-all', what: 'back', patches: [off([a])] });
    assert.deepEqual(asked, []);
  });
});

describe('the end of the journal', () => {
  const forget = { type: 'forget-owners', file: '/x/owners.json' } as const;

  it('is an archive, then nothing', async () => {
    const { ports, asked } = holding([entryFor([a])]);
    assert.equal(await forgetOwners(ports, forget), 'kept as /x/owners.json');
    assert.deepEqual(asked, ['load', 'forget']);
  });

  it('does not come where it cannot be archived', async () => {
    for (const failure of [new Error('no space left on device'), new Fault('failed', 'no space left for it', [])]) {
      let tries = 0;
      const archive = () => {
        tries += 1;
        return Promise.reject(failure);
      };
      const { ports, asked } = holding([entryFor([a])], { archive });
      await assert.rejects(forgetOwners(ports, forget), /no space/);
      assert.deepEqual([asked, tries], [['load'], 1]);
    }
  });

  it('sweeps up what a deletion that was cut off left behind', async () => {
    const { ports, asked } = holding(undefined);
    assert.equal(await forgetOwners(ports, forget), 'there was none');
    assert.deepEqual(asked, ['load', 'forget']);
  });
});
