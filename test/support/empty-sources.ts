import type { Sources } from '../../src/kernel/ports.ts';
import { NOW } from '../fixtures/facts.ts';

/** A machine without files and a cluster without a record, for tests to lay their own over. */
export const emptySources = {
  store: { ask: async (endpoint) => ({ endpoint, state: 'healthy', because: '' }), value: async () => undefined },
  stored: { releasesOf: async () => [], documentsOf: async () => undefined },
  work: { path: '/w', read: async () => undefined, write: async (name) => name, freeBytes: async () => 9e9 },
  files: {
    readText: async () => '',
    readBytes: async () => new Uint8Array(),
    exists: async () => false,
    isFolder: async () => false,
    realPath: async (path) => path,
    writable: async () => true,
  },
  clock: { now: () => new Date(NOW), sleep: async () => undefined },
  records: {
    load: async () => undefined,
    save: async () => undefined,
    keep: async () => undefined,
    append: async () => undefined,
    kept: async () => undefined,
    keptHere: async () => true,
    keptWith: async () => [],
  },
  journal: { load: async () => undefined, leftOver: async () => false, elsewhere: async () => [] },
} satisfies Partial<Sources>;
