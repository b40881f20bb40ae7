import { faultsIn, type Room } from './seeded-fault.ts';

export const MERGE: Room = {
  name: 'merge',
  tests: ['test/merge/*.test.ts'],
  faults: [
    ...faultsIn('src/merge/fields.ts', [
      ['was.list === is.list && was.members.size + is.members.size === 0', 'was.members.size + is.members.size === 0'],
      ['member !== null && member !== undefined', 'member !== undefined'],
      ['!told.includes(field)', 'true'],
    ]),
    ...faultsIn('src/merge/list-keys.ts', [
      ["volumeMounts: ['mountPath'],", "volumeMounts: ['name'],"],
      ["protocol: 'TCP'", "protocol: 'UDP'"],
      ['if (key === undefined || items.has(key)) return undefined;', 'if (key === undefined) return undefined;'],
    ]),
    ...faultsIn('src/merge/edits.ts', [
      ["sameEffect(change, after) ? 'kept'", "sameMeaning(change.before, after) ? 'kept'"],
      ["if (edit.ref.kind !== 'Secret') return edit;", 'return edit;'],
      [
        "if (planned.change !== 'create' || !isCompared(base)) return [];",
        "if (planned.change === 'create' || !isCompared(base)) return [];",
      ],
      ['&& isReleaseTag(String(before)) && isReleaseTag(String(after));', ';'],
    ]),
    ...faultsIn('src/merge/fields-v1.ts', [
      ["return isLeaf(node) && !isLeaf(other) ? { '.': EMPTY } : node;", 'return node;'],
      ['const ownedHere = parentOwned && theirs', 'const ownedHere = theirs'],
      ['inLast && !ownedHere', 'inLast'],
      ["return isLeaf(node) || '.' in node;", 'return isLeaf(node);'],
    ]),
    ...faultsIn('src/merge/managed-fields.ts', [
      ["entry.operation === 'Update' && hasPath(", 'hasPath('],
      ['...(keepsLastApplied ? [LAST_APPLIED_SET] : [])', ''],
      ['...(isRecord(fields.metadata) ? fields.metadata : {}), ...identity,', '...(isRecord(fields.metadata) ? fields.metadata : {}),'],
      ["const again = document.kind === 'Secret' &&", "const again = document.kind === 'ConfigMap' &&"],
      [
        "entry.manager === fieldManager && entry.operation === 'Apply' && !entry.subresource",
        "entry.manager === fieldManager && entry.operation === 'Apply'",
      ],
    ]),
    ...faultsIn('src/merge/waves.ts', [
      [
        "const order: readonly WaveId[] = ['configuration', 'agents', 'typha',",
        "const order: readonly WaveId[] = ['configuration', 'typha', 'agents',",
      ],
      ["byWave.set('add-ons', beside);", ''],
      ["if (isWorkload(object, variant.controllers)) return 'controllers';", ''],
    ]),
    ...faultsIn('src/merge/text-merge.ts', [
      ['if (sameLines(own, old) || sameLines(own, fresh))', 'if (sameLines(own, old) || sameLines(fresh, old))'],
      ['return conflicts.length > 0 ? { conflicts }', 'return conflicts.length > 1 ? { conflicts }'],
    ]),
    ...faultsIn('src/merge/same-meaning.ts', [
      ["'$1');", "'');"],
      ['if (isEmpty(a) && isEmpty(b)) return true;', 'if (isEmpty(a) || isEmpty(b)) return true;'],
      ['Ki: 2 ** 10,', 'Ki: 1e3,'],
    ]),
    ...faultsIn('src/merge/leftovers.ts', [
      ['.sort(lastFirst)', ''],
      [`&& !setByHand(live, \`\${label}env[\${one}]\`)`, ''],
      ["        { op: 'test', path: testPath, value: testValue } as const,\n", ''],
    ]),
  ],
};
