import type { Room } from './seeded-fault.ts';

export const JOURNAL: Room = {
  name: 'journal',
  tests: ['test/adapters/journal/*.test.ts'],
  faults: {
    'src/adapters/journal/journal.ts': [
      // What was written is not read back.
      ['if (stored && sha256Of(stored.bytes) === sha256Of(bytes)) return;', 'if (!failure) return;'],
      ['if (stored && sha256Of(stored.bytes) === sha256Of(bytes)) return;', 'if (stored) return;'],
      // The head before its chunks.
      [
        'for (const { name, bytes } of named) await createChecked(name, bytes);\n      await acknowledge({ append, runId, chunks: named.map(({ name, sha256, entries: count }) => ({ name, sha256, entries: count })) });',
        'await acknowledge({ append, runId, chunks: named.map(({ name, sha256, entries: count }) => ({ name, sha256, entries: count })) });\n      for (const { name, bytes } of named) await createChecked(name, bytes);',
      ],
      ['appends: [...read.head.appends, record] }), read.version)', 'appends: [record] }), read.version)'],
      ['if (failure && !isConflict(failure)) throw failure;', 'if (failure) throw failure;'],
      ['if (failure && !isConflict(failure)) throw failure;', ''],
      ['if (!read || read.head.forgotten) throw refusal(place, JOURNAL_NAME)(', 'if (!read) throw refusal(place, JOURNAL_NAME)('],
      ['if (read?.head.forgotten) await erase();', ''],
      ['(await place.names()).toReversed()', '(await place.names())'],
      ['return 1 + Math.max(0,', 'return Math.max(1,'],
      ['        await readAll(read.head);\n        await readUnacknowledged(read.head);', ''],
      ['await place.replace(JOURNAL_NAME, headBytes({ ...read.head, forgotten: true }), read.version);', ''],
      ['read === undefined || read.head.forgotten ? undefined', 'read === undefined ? undefined'],
      ['return thrown instanceof ApiFailure && thrown.status === 409;', 'return thrown instanceof ApiFailure;'],
    ],
    'src/adapters/journal/chunk.ts': [
      ["if (lines.pop() !== '') throw", 'if (lines.pop() === undefined) throw'],
      ['if (header.version > JOURNAL_VERSION)', 'if (header.version < JOURNAL_VERSION)'],
      ['if (entries.length !== header.entries)', 'if (entries.length > header.entries)'],
      ['bytes.length <= CHUNK_BYTES)) return chunks;', 'bytes.length <= 2 * CHUNK_BYTES)) return chunks;'],
      ['return [lines.slice(0, middle), lines.slice(middle)];', 'return [lines.slice(0, middle), lines.slice(middle + 1)];'],
      ['if (wrong >= 0) throw', 'if (wrong > 0) throw'],
      ['number: index + 1, of,', 'number: index, of,'],
    ],
    'src/adapters/journal/head.ts': [
      ['if (journal.clusterUid !== clusterUid)', 'if (journal.clusterUid === undefined)'],
      ['if (sha256 !== sha256Of(JSON.stringify(journal)))', 'if (sha256 === undefined)'],
      ['version > JOURNAL_VERSION)\n    throw new Fault(', 'version > JOURNAL_VERSION + 1)\n    throw new Fault('],
      ["if (version !== JOURNAL_VERSION) throw refuse('it has no version');", ''],
    ],
    'src/adapters/journal/read.ts': [
      ['if (orphan !== undefined)\n', 'if (orphan === JOURNAL_NAME)\n'],
      ['if (sha256Of(stored.bytes) !== sha256) throw', 'if (stored.bytes.length === 0) throw'],
      ["if (!stored) throw refusal(place, name, 'missing')('it is gone');", 'if (!stored) return [];'],
      ['const entries = merged(all);', 'const entries = all;'],
      ['header.clusterUid === of.clusterUid &&', ''],
      ['header.runId === append.runId &&', ''],
    ],
  },
};
