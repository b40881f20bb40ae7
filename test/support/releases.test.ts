import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packReleases } from '../../build/test-releases.ts';
import { emptyFolder } from './folders.ts';
import { manifestFile, releases, unpacked } from './releases.ts';

describe('releases that the repository holds packed', () => {
  const folder = emptyFolder('packed-releases-');
  let packed = '';
  let cache = '';
  beforeEach(() => {
    for (const release of ['v1', 'v2']) {
      mkdirSync(join(folder, 'from', release, 'manifests', 'more'), { recursive: true });
      writeFileSync(join(folder, 'from', release, 'manifests', 'one.yaml'), `release: ${release} – “so”\n`);
      writeFileSync(join(folder, 'from', release, 'manifests', 'more', 'two.yaml'), 'a: b');
    }
    [packed, cache] = [join(folder, 'packed'), join(folder, 'cache', 'of tests')];
    writeFileSync(packed, packReleases(join(folder, 'from')));
  });

  it('come out as they went in, under the name of their sum', () => {
    const found = unpacked(packed, cache);
    assert.deepEqual(readdirSync(cache), [found.slice(cache.length + 1)]);
    assert.deepEqual(readdirSync(found, { recursive: true }).sort(), readdirSync(join(folder, 'from'), { recursive: true }).sort());
    assert.equal(readFileSync(join(found, 'v2', 'manifests', 'one.yaml'), 'utf8'), 'release: v2 – “so”\n');
  });

  it('are unpacked once, and anew when others are packed', () => {
    const first = unpacked(packed, cache);
    const { ino } = statSync(join(first, 'v1', 'manifests', 'one.yaml'));
    assert.equal(unpacked(packed, cache), first);
    assert.equal(statSync(join(first, 'v1', 'manifests', 'one.yaml')).ino, ino);
    writeFileSync(join(folder, 'from', 'v1', 'manifests', 'one.yaml'), 'other: text\n');
    writeFileSync(packed, packReleases(join(folder, 'from')));
    const second = unpacked(packed, cache);
    assert.notEqual(second, first);
    assert.equal(readFileSync(join(second, 'v1', 'manifests', 'one.yaml'), 'utf8'), 'other: text\n');
  });

  it('leave nothing under their name, or beside it, where they cannot be unpacked whole', () => {
    writeFileSync(packed, readFileSync(packed).subarray(0, 60));
    assert.throws(() => unpacked(packed, cache));
    assert.deepEqual(readdirSync(cache), []);
  });

  it('are there', () => {
    assert.ok(readdirSync(releases).length >= 27);
    assert.ok(existsSync(manifestFile('v3.32.1', 'calico.yaml')));
  });
});
