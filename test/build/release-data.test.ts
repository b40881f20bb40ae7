import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packBases, storedBases } from '../../build/base-data.ts';
import { packDigests } from '../../build/release-digests.ts';
import { filesWith, unpackedFiles } from '../../build/test-releases.ts';
import { digestIn } from '../../src/adapters/artifacts/known-digests.ts';
import { parseManifest } from '../../src/manifest/manifest.ts';
import { calico } from '../../src/profiles/calico.ts';
import { testFolder } from '../support/folders.ts';
import { manifestFile } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';

const NEXT = 'v3.99.0';
const FILE = 'csi-driver.yaml';
const text = readFileSync(manifestFile(CALICO_TARGET, FILE), 'utf8').replaceAll(CALICO_TARGET, NEXT);

function folderOf(file: string): string {
  const folder = testFolder('next-release-');
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
  return folder;
}

describe('the data of a release', () => {
  it('are added to the manifests that tests install', () => {
    const packed = unpackedFiles();
    const name = `${NEXT}/manifests/${FILE}`;
    const files = filesWith(folderOf(name), packed);
    assert.deepEqual(files, { ...packed, [name]: text });
    assert.deepEqual(Object.keys(files), Object.keys(filesWith(folderOf(name), files)));
  });

  it('are added to the sums that the program carries', () => {
    const stored = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'src', 'adapters', 'digests', 'calico.json'), 'utf8'));
    const folder = folderOf('manifests/calico.yaml');
    const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x', ...args]);
    git('init', '--quiet');
    assert.deepEqual(packDigests(folder, stored), stored);
    git('add', '.');
    git('commit', '--quiet', '--no-gpg-sign', '-m', 'x');
    git('tag', '--no-sign', NEXT);
    const found = packDigests(folder, stored);
    assert.deepEqual(found.releases, [...stored.releases, NEXT]);
    assert.equal(digestIn(found, NEXT, 'calico.yaml'), createHash('sha256').update(text).digest('hex'));
    assert.equal(digestIn(found, NEXT, 'canal.yaml'), undefined);
    assert.equal(digestIn(found, CALICO_TARGET, 'canal.yaml'), digestIn(stored, CALICO_TARGET, 'canal.yaml'));
  });

  it('are added to the manifests that the program carries, each object once', () => {
    const stored = storedBases(calico.name);
    const file = calico.addOns.find(({ file: own }) => own !== 'apiserver.yaml')?.file ?? calico.operator.file;
    const { objects, releases } = packBases([folderOf(`${NEXT}/manifests/${file}`)], calico, stored);
    assert.deepEqual({ ...releases, [NEXT]: undefined }, { ...stored.releases, [NEXT]: undefined });
    assert.deepEqual(objects.slice(0, stored.objects.length), stored.objects);
    const own = parseManifest(text, file).documents.map(({ object }) => object);
    assert.deepEqual(
      releases[NEXT]?.[file]?.map((place) => objects[place]),
      own,
    );
  });
});
