import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { openStoredBases, type StoredBases, storedBasesPath } from '../../src/adapters/stored-bases.ts';
import { parseManifest } from '../../src/merge/manifest.ts';
import { manifestFile } from '../support/releases.ts';

describe('openStoredBases', () => {
  let bases: StoredBases;
  before(async () => {
    const opened = await openStoredBases('calico');
    assert.ok(opened);
    bases = opened;
  });

  it('has releases whose manifests are no longer published as files', () => {
    assert.ok(bases.releasesOf('calico-etcd.yaml').includes('v3.18.0'));
    const kinds = bases.documentsOf('v3.18.0', 'calico-etcd.yaml')?.map(({ kind }) => kind) ?? [];
    assert.ok(kinds.includes('DaemonSet') && kinds.includes('ConfigMap'), kinds.join());
  });

  it('names releases from the oldest on', () => {
    assert.equal(bases.releasesOf('calico.yaml')[0], 'v3.15.0');
    assert.equal(bases.releasesOf('calico.yaml').at(-1), 'v3.32.1');
  });

  it('has nothing for files, releases and profiles that are not stored', async () => {
    assert.deepEqual([bases.releasesOf('other.yaml'), bases.documentsOf('v1.0.0', 'calico.yaml')], [[], undefined]);
    assert.deepEqual([await openStoredBases('other'), await openStoredBases('../calico')], [undefined, undefined]);
  });

  it('stays small', () => {
    assert.ok(statSync(storedBasesPath('calico')).size < 100_000);
  });

  it('holds just what a release’s own manifest holds (all of them: test/full)', () => {
    const own = parseManifest(readFileSync(manifestFile('v3.18.0', 'calico-etcd.yaml'), 'utf8'), 'calico-etcd.yaml');
    assert.deepEqual(
      bases.documentsOf('v3.18.0', 'calico-etcd.yaml'),
      own.documents.map(({ object }) => object),
    );
  });
});
