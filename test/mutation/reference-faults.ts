import { faultsIn, type Room } from './seeded-fault.ts';

/** Conversion of UIDs, and what comes off and goes back. */
export const REFERENCES: Room = {
  name: 'references',
  tests: ['test/core/owner-*.test.ts'],
  faults: [
    ...faultsIn('src/core/owner-uid.ts', [
      ['const LEFT_ALONE = new Set([6, 8]);', 'const LEFT_ALONE = new Set([6]);'],
      ['const LEFT_ALONE = new Set([6, 8]);', 'const LEFT_ALONE = new Set([6, 7, 8]);'],
      ['<< (7 - bit)', '<< bit'],
      ["padStart(2, '0')", "padStart(1, '0')"],
      ['if (!UUID.test(uid)) return undefined;', ''],
      ["if (owner.renamePending) return { fate: 're-created' };", ''],
      ['if (owner.stored || owner.keepsUids || !owner.targetConverts)', 'if (owner.keepsUids || !owner.targetConverts)'],
      ['return sourceConverts ? servedUid : convertUid(servedUid);', 'return convertUid(servedUid);'],
      ["fate: uid === servedUid ? 'kept' : 'converted'", "fate: 'converted'"],
      [
        "if (servedUid === undefined) return { fate: 'gone' };\n  if (owner.renamePending) return { fate: 're-created' };",
        "if (owner.renamePending) return { fate: 're-created' };\n  if (servedUid === undefined) return { fate: 'gone' };",
      ],
    ]),
    ...faultsIn('src/core/owner-patches.ts', [
      ["if (live.uid !== entry.object.uid) return { ops: [], changed: allOf(entry, 'other-object') };", ''],
      ['.sort((a, b) => b - a)', '.sort((a, b) => a - b)'],
      [`    { op: 'test', path: \`\${REFERENCES}/\${index}\`, value: live.references[index] },\n`, ''],
      ['ops: [testUid(entry), ...removals]', 'ops: [...removals]'],
      ['const exact = assign(entry, live, sameReference);', 'const exact = assign(entry, live, sameOwner);'],
      ['!used.has(at) && same(one, reference)', 'same(one, reference)'],
    ]),
    ...faultsIn('src/core/owner-restore.ts', [
      ["if (live.uid !== entry.object.uid) return { ops: [], changed: allOf(entry, 'other-object') };", ''],
      ["if (!reference) return 'owner-gone';", 'if (!reference) return undefined;'],
      ['if (board.some((slot) => slot.place === place)) return undefined;', ''],
      ['board.splice(index, 0, { reference, place });', ''],
      ["  if (free.some((one) => sameOwner(one, old))) return 'old-one-there';\n", ''],
      ['if (reference.controller === true && board.some(', 'if (reference.controller === false && board.some('],
      ['if (before >= 0) return before + 1;', 'if (before >= 0) return before;'],
      ['return after >= 0 ? after : Math.min(place, board.length);', 'return after >= 0 ? after : place;'],
      ["return [testUid(entry), { op: 'test', path: REFERENCES, value: live.references }];", 'return [testUid(entry)];'],
      ["{ op: 'test', path: REFERENCES, value: null }, ", ''],
      ['return { ...reference, uid: now.uid,', 'return { ...reference,'],
      ['...(now.name === undefined ? {} : { name: now.name })', ''],
    ]),
    ...faultsIn('src/core/owner-merge.ts', [
      ['earlier ? mergeTwo(earlier, entry) : entry', 'entry'],
      ['owner: row.owner ?? found.owner', 'owner: row.owner'],
      ['!used.has(one) && same(one, row)', 'same(one, row)'],
      ['after = place;', ''],
      ['const joined: Row = found ? { reference: row.reference,', 'const joined: Row = found ? { reference: found.reference,'],
    ]),
  ],
};
