import assert from 'node:assert/strict';
import { cachedArtifacts } from '../../../src/adapters/artifacts/checked.ts';
import type { Artifacts } from '../../../src/kernel/ports.ts';
import { artifactsOf } from '../../support/empty-sources.ts';

function source() {
  const asked: string[] = [];
  const state = { there: true, reachable: true, now: 0 };
  const files = artifactsOf(() => (state.there ? '0123456789' : undefined), 's');
  const inner: Artifacts = {
    ...files,
    has: async (release, path) => {
      asked.push(`has ${release}/${path}`);
      if (!state.reachable) throw new Error('no answer');
      return files.has(release, path);
    },
    fetch: async (release, path) => {
      asked.push(`fetch ${release}/${path}`);
      return files.fetch(release, path);
    },
  };
  return { asked, state, artifacts: cachedArtifacts(inner, () => state.now) };
}

describe('the cache of release files', () => {
  it('fetches a file once, also for two who ask at the same time, and gives the same one to all', async () => {
    const { artifacts, asked } = source();
    const [a, b] = await Promise.all([artifacts.fetch('v1', 'f'), artifacts.fetch('v1', 'f')]);
    assert.equal(a, b);
    assert.equal(await artifacts.fetch('v1', 'f'), a);
    assert.equal(await artifacts.has('v1', 'f'), true);
    assert.deepEqual(asked, ['fetch v1/f']);
  });

  it('keeps releases and files apart', async () => {
    const { artifacts, asked } = source();
    for (const [release, path] of [
      ['v1', 'f'],
      ['v2', 'f'],
      ['v1', 'g'],
    ] as const)
      await artifacts.fetch(release, path);
    assert.deepEqual(asked, ['fetch v1/f', 'fetch v2/f', 'fetch v1/g']);
  });

  it('asks again for what was not there, and for what could not be fetched', async () => {
    const { artifacts, asked, state } = source();
    state.there = false;
    assert.equal(await artifacts.has('v1', 'f'), false);
    await assert.rejects(artifacts.fetch('v1', 'f'));
    state.there = true;
    assert.equal(await artifacts.has('v1', 'f'), true);
    await artifacts.fetch('v1', 'f');
    assert.deepEqual(asked, ['has v1/f', 'fetch v1/f', 'has v1/f', 'fetch v1/f']);
  });

  it('asks an address that gives no answer once a minute: each time takes seconds', async () => {
    const { artifacts, asked, state } = source();
    state.reachable = false;
    for (const now of [0, 59_000, 60_000]) {
      state.now = now;
      await assert.rejects(artifacts.has('v1', 'f'), /no answer/);
    }
    assert.equal(asked.length, 2);
    state.reachable = true;
    state.now = 120_000;
    assert.equal(await artifacts.has('v1', 'f'), true);
  });

  it('keeps to a smaller limit than that of the first who asked', async () => {
    const { artifacts } = source();
    await artifacts.fetch('v1', 'f');
    await assert.rejects(artifacts.fetch('v1', 'f', 9), /larger than the limit of 9 bytes/);
    await artifacts.fetch('v1', 'f', 10);
  });
});
