import { faultsIn, type Room } from './seeded-fault.ts';

export const MERGE: Room = {
  name: 'merge',
  tests: ['test/manifest/*.test.ts', 'test/kube/*.test.ts', 'test/features/install-manifest/obsolete.test.ts'],
  faults: [
    ...faultsIn('src/manifest/definition-differences.ts', [
      ['Array.isArray(before) === Array.isArray(after) && was.size + is.size === 0', 'was.size + is.size === 0'],
      ['member !== null && member !== undefined', 'member !== undefined'],
      ['!told.includes(field)', 'true'],
    ]),
    ...faultsIn('src/kube/list-keys.ts', [
      ["volumeMounts: ['mountPath'],", "volumeMounts: ['name'],"],
      ["protocol: 'TCP'", "protocol: 'UDP'"],
      ['if (key === undefined || items.has(key)) return undefined;', 'if (key === undefined) return undefined;'],
    ]),
    ...faultsIn('src/manifest/merge-fields.ts', [
      ['isEmptyList(three.mine) && !place.gone', 'isEmptyList(three.mine)'],
      [' && !addedAlike', ''],
      ["  if (place.name === 'image' && walk.mode === 'merge') return mergeImage(walk, place, three);\n", ''],
      ['three.base === undefined ? keysIn(walk, place, mine)', 'three.base === undefined ? mine'],
      ['&& !STANDS_ALONE.has(place.name)', ''],
      ['    if (grouped.has(name)) continue;\n', ''],
      ['  if (three.theirs === undefined && entries.length === 0) return undefined;\n', ''],
      [
        '[...Object.keys(theirs), ...Object.keys(mine)])];\n  const entries',
        '[...Object.keys(mine), ...Object.keys(theirs)])];\n  const entries',
      ],
      ['const isEmptyList = (list: unknown) => Array.isArray(list) &&', 'const isEmptyList = (list: unknown) => !Array.isArray(list) &&'],
    ]),
    ...faultsIn('src/manifest/merge-items.ts', [
      ['    if (moves.has(key)) continue;\n', ''],
      ['  if (index === 0) return 0;\n', ''],
      ['if (before >= 0) return before + 1;', 'if (before >= 0) return before;'],
      ['!done.has(key) && ', ''],
      [' ?? disputed?.because', ''],
      [' ?? walk.disputed?.(inItem(place, to[0]).path)', ''],
    ]),
    ...faultsIn('src/manifest/merge-object.ts', [
      ['  if (why === undefined && asked !== undefined) return decide(walk, ROOT, REMOVED, asked) !== undefined;\n', ''],
      ['asked !== undefined && !isSecret', 'isSecret && asked !== undefined'],
      ['return isSecret ? undefined : mine;', 'return mine;'],
      ["  if (theirs.kind === 'Secret') return secret(walk, { base, mine, theirs });\n", ''],
      ["'ServiceAccount', 'RoleBinding', 'ClusterRoleBinding'", "'ServiceAccount', 'RoleBinding'"],
      ["(theirs.kind === 'DaemonSet' ? AGENTS : undefined)", 'undefined'],
      ["live === 'absent' && (isSecret || walk", "live === 'absent' && (walk"],
    ]),
    ...faultsIn('src/manifest/merge-items.ts', [
      ['/\\$\\$|', '/'],
      ["return jsonAt(side.get(reader), 'value') === jsonAt(merged.get(reader), 'value');", 'return true;'],
      ['[...readers, name]', 'readers'],
      ['names.indexOf(read) >= names.indexOf(reader)', 'names.indexOf(read) < names.indexOf(reader)'],
    ]),
    ...faultsIn('src/manifest/own-file.ts', [
      ['|| !at(inFile) ', ''],
      [' || at(since)', ''],
      ['    if (!at(open)) return !at(inCluster);\n', ''],
      ['if (!at(open)) return !at(inCluster);', 'if (!at(open)) return true;'],
      [' || (!base && !theirs)', ''],
      ["return own.kind === 'Secret'", "return own.kind === 'ConfigMap'"],
      ['isReleaseOfSame(path, was, is) || ', ''],
      [', intoTexts: true', ''],
    ]),
    ...faultsIn('src/manifest/merge.ts', [['...removals(ready, renames), ', '']]),
    ...faultsIn('src/manifest/merge-values.ts', [
      ['if (!moved && plain) return theirs;', 'if (plain) return theirs;'],
      ['  if (moved && plain && asked === undefined) walk.images.learn(was, is);\n', ''],
      ['if (!isEdit && disputed === undefined) return three.theirs;', 'if (!isEdit) return three.theirs;'],
      [' ? undefined : disputed?.because;', ' ? disputed?.because : undefined;'],
      ['others && sameValue(others, merged) ?', 'others && sameValue(others, others) ?'],
      ['...added.filter((word) => !theirs.includes(word))', '...added'],
      ['...theirs.filter((word) => !removed.includes(word))', '...theirs'],
      ["  if (base && theirs && !mine && walk.mode === 'merge') return { text: decide(walk, place, three, NO_JSON) };\n", ''],
    ]),
    ...faultsIn('src/manifest/images.ts', [
      ['folders.length === 1 && folders[0] ?', 'folders[0] ?'],
      ["parseRelease(tag)?.suffix === ''", 'parseRelease(tag) !== undefined'],
      ['&& isReleaseTag(one) && isReleaseTag(other);', ';'],
    ]),
    ...faultsIn('src/manifest/own-file.ts', [
      ['only(only(only(file, live), base), applied)', 'only(only(file, live), base)'],
      ['grants(base, one) && grants(applied, one)', 'grants(base, one)'],
      ['only(added, theirs).map', 'added.slice(0, 0).map'],
    ]),
    ...faultsIn('src/manifest/permissions.ts', [
      ["(name === '' || name === wanted.name)", 'name === wanted.name'],
      ["return granted === wanted || granted === '*';", 'return granted === wanted;'],
    ]),
    ...faultsIn('src/manifest/merge-object.ts', [
      ['const granted = isTaken ? verbs : sure;', 'const granted = isTaken ? verbs : [];'],
      ['[...(Array.isArray(rules.theirs) ? rules.theirs : []), ...extra]', 'extra'],
    ]),
    ...faultsIn('src/manifest/choose-base.ts', [
      ['  if (fields.length === 0) return { base, result, alike: nearer.release };\n', ''],
      ["outcome === 'kept' || outcome === 'conflict'", "outcome === 'conflict'"],
      ["outcome === 'kept' || path.endsWith('.image')", 'outcome.length === 0'],
      [" || path.endsWith('.image')", ''],
      ['others.filter((one) => distance(one.documents) < own)', 'others'],
    ]),
    ...faultsIn('src/manifest/base-distance.ts', [["&& !path.endsWith('.image')", '']]),
    ...faultsIn('src/manifest/definition-differences.ts', [["if (object.kind !== 'Secret') return changes;", 'return changes;']]),
    ...faultsIn('src/manifest/carried-file.ts', [
      ["  if (object.kind !== 'Secret' || !hasValues) return object;", '  if (hasValues || !hasValues) return object;'],
      ['.filter((document) => !gone.has(identityOf(document)))', ''],
    ]),
    ...faultsIn('src/kube/fields-v1.ts', [
      ["return isLeaf(node) && !isLeaf(other) ? { '.': EMPTY } : node;", 'return node;'],
      ['const ownedHere = parentOwned && theirs', 'const ownedHere = theirs'],
      ['inLast && !ownedHere', 'inLast'],
      ["return isLeaf(node) || '.' in node;", 'return isLeaf(node);'],
    ]),
    ...faultsIn('src/kube/managed-fields.ts', [
      ["entry.operation === 'Update' && hasPath(", 'hasPath('],
      ['...(keepsLastApplied ? [LAST_APPLIED_SET] : [])', ''],
      ['...(isRecord(fields.metadata) ? fields.metadata : {}), ...identity,', '...(isRecord(fields.metadata) ? fields.metadata : {}),'],
      ["const again = document.kind === 'Secret' &&", "const again = document.kind === 'ConfigMap' &&"],
      [
        "entry.manager === fieldManager && entry.operation === 'Apply' && !entry.subresource",
        "entry.manager === fieldManager && entry.operation === 'Apply'",
      ],
    ]),
    ...faultsIn('src/manifest/waves.ts', [
      [
        "const order: readonly WaveId[] = ['configuration', 'agents', 'typha',",
        "const order: readonly WaveId[] = ['configuration', 'typha', 'agents',",
      ],
      ["byWave.set('add-ons', beside);", ''],
      ["if (isWorkload(object, variant.controllers)) return 'controllers';", ''],
    ]),
    ...faultsIn('src/manifest/sequences.ts', [
      [
        'if (sameLines(region.mine, region.base) || sameLines(region.mine, region.theirs))',
        'if (sameLines(region.mine, region.base) || sameLines(region.theirs, region.base))',
      ],
      ['return conflicts.length > 0 ? { conflicts }', 'return conflicts.length > 1 ? { conflicts }'],
    ]),
    ...faultsIn('src/manifest/alike.ts', [
      ["'$1');", "'');"],
      ['if (isEmpty(a) && isEmpty(b)) return true;', 'if (isEmpty(a) || isEmpty(b)) return true;'],
    ]),
    ...faultsIn('src/manifest/alike.ts', [['Ki: 2 ** 10,', 'Ki: 1e3,']]),
    ...faultsIn('src/manifest/lay-live.ts', [
      ['applied === undefined || fieldAt(base, path) !== undefined', 'true'],
      ['return steps.length - index <= (isList ? 1 : 2);', 'return true;'],
      ['    if (!items) return false;\n', '    if (!items) return true;\n'],
    ]),
    ...faultsIn('src/features/install-manifest/obsolete.ts', [
      ['named.findLastIndex((one) => says(one, missing) !== false)', 'named.findIndex((one) => says(one, missing) !== false)'],
      ['return found && prepared(found);', 'return found;'],
    ]),
    ...faultsIn('src/manifest/openapi-lists.ts', [
      ["type === 'map' && keys.length > 0 ? keys : isMerged", 'isMerged'],
      ['  if (ref !== undefined && within.includes(ref)) return;\n', ''],
    ]),
    ...faultsIn('src/manifest/leftovers.ts', [[" && !setByHand(live, itemIn(at, 'env', one))", '']]),
  ],
};
