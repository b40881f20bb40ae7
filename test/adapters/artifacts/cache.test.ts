import assert from 'node:assert/strict';
import { cachedArtifacts } from '../../../src/adapters/artifacts/checked.ts';
import type { Artifacts } from '../../../src/kernel/ports.ts';
import { artifactsOf } from '../../support/empty-sources.ts';

function source() {
  const asked: string[] = [];
  const state = { there: true };
  const files = artifactsOf(() => (state.there ? '0123456789' : undefined), 's');
  const inner: Artifacts = {
    ...files,
    has: async (release, path) => {
      asked.push(`has ${release}/${path}`);
      return files.has(release, path);
    },
    fetch: async (release, path) => {
      asked.push(`fetch ${release}/${path}`);
      return files.fetch(release, path);
    },
  };
  return { asked, state, artifacts: cachedArtifacts(inner) };
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

  it('keeps to a smaller limit than that of the first who asked', async () => {
    const { artifacts } = source();
    await artifacts.fetch('v1', 'f');
    await assert.rejects(artifacts.fetch('v1', 'f', 9), /larger than the limit of 9 bytes/);
    await artifacts.fetch('v1', 'f', 10);
  });
});
