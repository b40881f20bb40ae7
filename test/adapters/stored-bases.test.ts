import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { openStoredBases, type StoredBases, storedBasesPath, storedManifests } from '../../src/adapters/stored-bases.ts';
import { withoutTexts } from '../../src/manifest/definition-differences.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

/** The last patch release of v3.15, v3.16, … v3.32. */
const LAST_PATCH = [5, 10, 6, 6, 4, 6, 6, 5, 5, 6, 2, 5, 5, 5, 7, 7, 7, 1];

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
    assert.equal(bases.releasesOf('calico.yaml').at(-1), CALICO_TARGET);
  });

  it('has nothing for files, releases and profiles that are not stored', async () => {
    assert.deepEqual([bases.releasesOf('other.yaml'), bases.documentsOf('v1.0.0', 'calico.yaml')], [[], undefined]);
    assert.deepEqual([await openStoredBases('other'), await openStoredBases('../calico')], [undefined, undefined]);
  });

  it('has every published release of every variant', () => {
    const published = LAST_PATCH.flatMap((last, index) => Array.from({ length: last + 1 }, (_, patch) => `v3.${15 + index}.${patch}`));
    assert.equal(published.length, 116);
    for (const { file } of calico.variants) assert.deepEqual(bases.releasesOf(file), published, file);
    const since = (minor: number) => published.filter((release) => Number(release.split('.')[1]) >= minor);
    assert.deepEqual(bases.releasesOf('apiserver.yaml'), since(20));
    assert.deepEqual(bases.releasesOf('csi-driver.yaml'), since(23));
    for (const release of since(24)) assert.ok(bases.releasesOf('tigera-operator.yaml').includes(release), release);
  });

  it('has definitions without their descriptions', () => {
    const definitions = bases.documentsOf(CALICO_TARGET, 'calico.yaml')?.filter(({ kind }) => kind === 'CustomResourceDefinition') ?? [];
    assert.ok(definitions.length > 15);
    assert.doesNotMatch(JSON.stringify(definitions), /"description":"/);
  });

  it('is read for each file alone, with the same in it', async () => {
    const stored = storedManifests('calico');
    for (const file of ['calico.yaml', 'csi-driver.yaml', 'other.yaml']) {
      const releases = bases.releasesOf(file);
      assert.deepEqual(await stored.releasesOf(file), releases);
      for (const release of releases) assert.deepEqual(await stored.documentsOf(release, file), bases.documentsOf(release, file), release);
    }
    const alone = (await openStoredBases('calico', ['csi-driver.yaml'])) ?? assert.fail('nothing stored');
    assert.deepEqual([alone.releasesOf('calico.yaml'), alone.documentsOf(CALICO_TARGET, 'calico.yaml')], [[], undefined]);
  });

  it('stays small', () => {
    assert.ok(statSync(storedBasesPath('calico')).size < 100_000);
  });

  it('holds just what a release’s own manifest holds (all of them: test/full)', () => {
    const own = parseManifest(readFileSync(manifestFile('v3.18.0', 'calico-etcd.yaml'), 'utf8'), 'calico-etcd.yaml');
    assert.deepEqual(
      bases.documentsOf('v3.18.0', 'calico-etcd.yaml'),
      own.documents.map(({ object }) => withoutTexts(object)),
    );
  });
});
