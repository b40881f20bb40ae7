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

/** What is chosen, the gate before it goes, and what is sought when it is to come back. */
export const WRITE_AHEAD: Room = {
  name: 'write-ahead',
  tests: [
    'test/engine/owner-journal.test.ts',
    'test/stages/owners/*.test.ts',
    'test/core/owner-*.test.ts',
    'test/sandbox/owner-references.test.ts',
    'test/sandbox/owner-troubles.test.ts',
  ],
  faults: [
    ...faultsIn('src/engine/owner-journal.ts', [
      ['const missing = entries.filter(', 'const missing = [].filter('],
      ['isRecorded(entry, stored.get(entryKey(entry)))', 'stored.has(entryKey(entry))'],
      ['  if (recordedIn === undefined) return;\n', '  return;\n'],
      ['  await ownerJournal.append([]);\n', ''],
      ['stored && !stored.copyOnly ? stored.entries : []', 'stored ? stored.entries : []'],
      ['  if (!first) return;\n', '  return;\n'],
      ["thrown.code !== 'usage' || ", ''],
    ]),
    ...faultsIn('src/core/owner-strip.ts', [
      ['filter((entry) => !isRecorded(entry, known.get(entryKey(entry))))', 'filter((entry) => known.get(entryKey(entry)) === undefined)'],
      ['return entry !== undefined && holds(entry, reference);', 'return entry !== undefined;'],
      ['if (!stored) return false;', 'if (!stored) return true;'],
      ['return entry.removed.every((place) => {', 'return entry.removed.some((place) => {'],
      ['return removed.some((place) => {', 'return [...references.keys()].some((place) => {'],
      ['return one !== undefined && sameReference(one, reference);', 'return one !== undefined && one.uid === reference.uid;'],
      ["before?.op === 'test' && before.path === path", "before?.op === 'test'"],
      ["if (op !== 'remove' || tested === undefined", 'if (tested === undefined'],
      ['(byUid.get(uid) ?? [])', 'stored'],
    ]),
    ...faultsIn('src/core/owner-fate.ts', [
      ['kind?.twins?.get(place)?.has(uid) ? uid : kind?.served?.get(place)', 'kind?.served?.get(place)'],
      ['owner.name === name && place === ownerPlace(namespace, owner.storedName)', 'place === ownerPlace(namespace, owner.storedName)'],
      ['one.uid === uid || convertUid(one.uid) === uid', 'one.uid === uid'],
      ["if (fate === 'unknown') return !isStored;", "if (fate === 'unknown') return false;"],
      ['if (servedUid === undefined) return false;', 'if (servedUid === undefined) return true;'],
      ["new Set(['converted', 're-created', 'unaddressed'])", "new Set(['converted', 'unaddressed'])"],
      ["new Set(['converted', 're-created', 'unaddressed'])", "new Set(['converted', 're-created'])"],
      ['return !isStored && uid === backingUid && convertUid(uid) === servedUid;', 'return false;'],
    ]),
    ...faultsIn('src/stages/owners/put-back.ts', [
      ['breaks && cameBack(owned, reference, journal)', 'breaks'],
      ['.slice(0, ASKED)', ''],
      ['if (metadata?.uid !== object.uid) return one;', ''],
    ]),
    ...faultsIn('src/stages/owners/unshown-owner.ts', [
      ['stored.has(place) && !served.has(place)', '!served.has(place)'],
      ['groupOf(reference.apiVersion) !== apiGroup || ', ''],
      ['namespaced ? object.namespace : undefined', 'object.namespace'],
    ]),
    ...faultsIn('src/stages/owners/world.ts', [
      ['rules.keepsUids ? read : ', ''],
      ['const { served: _, twins: __, ...owners } = read.owners;', 'const { owners } = read;'],
      [
        'const [shown, behind] = other && name !== storedName ? [other, owner] : [owner, other];',
        'const [shown, behind] = [owner, other];',
      ],
      ['if (behind) hidden.set(ownerPlace(namespace, behind.storedName), behind);', ''],
      ['name !== storedName && isOfDefaultTier(object)', 'name !== storedName'],
      ['if (inV3 && !v3) missed(', 'if (false) missed('],
    ]),
    ...faultsIn('src/stages/owners/renamed-objects.ts', [
      ['groupOf(object.apiVersion) === crdGroup && ', ''],
      ['isPolicy(entry, profile) && !live.found.has(entryKey(entry))', 'isPolicy(entry, profile)'],
      ['if (!kept.every((one) => now.references.some((other) => sameReference(one, other)))) return [entry];', ''],
      [' || policyName(object, profile) !== object.metadata.name', ''],
      ['!object || !isOfDefaultTier(object)', '!object'],
      ["if ('unread' in reading) unread.push(", "if ('unread' in object) unread.push("],
    ]),
    ...faultsIn('src/stages/owners/restore-owners.ts', [
      ['otherThanComputed(owner, now) ?? ', ''],
      ['?? otherThanRecorded(entry, owner, now) ', ''],
      [' ?? otherThanStored(owner, now, world)', ''],
      ['return now === undefined || now.uid === recorded ? undefined', 'return now === undefined || now ? undefined'],
      ['name: stored.storedName };', 'name };'],
    ]),
    ...faultsIn('src/stages/owners/restore-judge.ts', [
      ['let outstanding = entries.filter(unseen).length;', 'let outstanding = 0;'],
      ['if (ops.length > 0 || refused.size > 0) outstanding += 1;', 'if (ops.length > 0) outstanding += 1;'],
      ['const refused = new Set(unknown);', 'const refused = new Set<string>();'],
      ['(mute.has(ownerKey(owner)) || ', '('],
      ['(other !== undefined && !isAccepted(options.accept, name))', 'false'],
    ]),
    ...faultsIn('src/stages/owners/restore-facts.ts', [
      ['  assertOwnGroups(journal, context);\n', ''],
      ['if (context.options.undo && hasBegun(record, context)) throw tooLateToUndo(context);', ''],
      [
        'readOwnerWorld(sources.cluster, context, journal.entries.map(onlyRemoved), rules)',
        'readOwnerWorld(sources.cluster, context, [], rules)',
      ],
      ['dangling: deadIn(references),', 'dangling: [],'],
    ]),
  ],
};
