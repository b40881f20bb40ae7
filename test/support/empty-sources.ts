import { createHash } from 'node:crypto';
import { Fault } from '../../src/kernel/fault.ts';
import type { Artifacts, Sources } from '../../src/kernel/ports.ts';
import { NOW } from '../fixtures/facts.ts';

export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Release files with these texts; one without a text is not there. */
export function artifactsOf(textOf: (release: string, path: string) => string | undefined, source = 'https://files.example'): Artifacts {
  const urlOf = (release: string, path: string) => (path.includes('://') ? path : `${source}/${release}/${path}`);
  return {
    source,
    urlOf,
    async fetch(release, path) {
      const text = textOf(release, path);
      if (text === undefined) throw new Fault('failed', `${release}/${path}: HTTP 404`, []);
      return { url: urlOf(release, path), file: path, bytes: new TextEncoder().encode(text), sha256: sha256(text) };
    },
    has: async (release, path) => textOf(release, path) !== undefined,
    sumOf: async () => undefined,
    sumSeen: async () => undefined,
    releases: async () => undefined,
  };
}

/** A machine without files and a cluster without a record, for tests to lay their own over, each time others: a test may change them. */
export const emptySources = () =>
  ({
    tools: {
      which: async () => [],
      run: async () => ({ exitCode: 1, stdout: '', stderr: '', durationMs: 1 }),
      programOf: (tool) => tool,
      platform: () => ({ os: 'linux', arch: 'amd64' }),
      ownerOf: async () => undefined,
    },
    artifacts: artifactsOf(() => undefined),
    store: { ask: async (endpoint) => ({ endpoint, state: 'healthy', because: '' }), value: async () => undefined },
    stored: { releasesOf: async () => [], documentsOf: async () => undefined },
    work: {
      path: '/w',
      read: async () => undefined,
      write: async (name) => name,
      fresh: (use) => use('/w/fresh'),
      freeBytes: async () => 9e9,
    },
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
      keptWith: async () => [],
    },
    journal: { load: async () => undefined, leftOver: async () => false },
  }) satisfies Partial<Sources>;
