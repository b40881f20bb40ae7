import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { krewManifest, type PackedArchive, releasePlace } from '../../build/pack-krew.ts';
import { readRuntimeLock } from '../../build/pack-runtimes.ts';
import { krewIndexFaults } from './krew-index-rules.ts';

const root = join(import.meta.dirname, '..', '..');
const template = readFileSync(join(root, 'plugin.yaml'), 'utf8');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const archives: readonly PackedArchive[] = readRuntimeLock().runtimes.map(({ os, arch }, index) => ({
  os,
  arch,
  file: `${os}_${arch}.tar.gz`,
  sha256: String(index).repeat(64),
}));
const manifest = krewManifest(template, version, archives, releasePlace(template, version));

describe('the krew manifest', () => {
  it('keeps every rule of krew and of its index', () => assert.deepEqual(krewIndexFaults(manifest, 'netsvc-upgrade.yaml'), []));

  it('selects the six platforms, each its own archive and sum', () => {
    const { platforms } = parse(manifest).spec;
    assert.deepEqual(
      platforms.map((one: { selector: { matchLabels: { os: string; arch: string } } }) =>
        Object.values(one.selector.matchLabels).join('/'),
      ),
      ['linux/amd64', 'linux/arm64', 'darwin/amd64', 'darwin/arm64', 'windows/amd64', 'windows/arm64'],
    );
    assert.equal(
      platforms[3].uri,
      `https://github.com/netsvc-upgrade/kubectl-netsvc-upgrade/releases/download/v${version}/darwin_arm64.tar.gz`,
    );
    assert.equal(platforms[3].sha256, '3'.repeat(64));
  });

  it('keeps the words that were written by hand', () => {
    for (const word of ['homepage', 'shortDescription', 'description', 'caveats'])
      assert.equal(parse(manifest).spec[word], parse(template).spec[word]);
    assert.match(manifest, /^# krew manifest/);
  });

  it('comes out the same when it is made from itself', () =>
    assert.equal(krewManifest(manifest, version, archives, releasePlace(manifest, version)), manifest));

  it('has a short description that krew search shows whole', () => assert.ok(parse(template).spec.shortDescription.length <= 65));

  it('is committed for the version of the package, without a broken rule', () => {
    assert.equal(parse(template).spec.version, `v${version}`);
    assert.deepEqual(krewIndexFaults(template, 'netsvc-upgrade.yaml'), []);
  });
});

describe('the rules of krew’s index', () => {
  const broken: readonly [string, string | RegExp, string, string][] = [
    ['an upper-case sum', /sha256: "?0{64}"?/, `sha256: ${'A'.repeat(64)}`, 'sha256'],
    ['a version without v', /version: v/, 'version: ', 'version'],
    ['no description', /shortDescription: .*/, 'shortDescription: ""', 'short description'],
    ['a selector twice', 'arch: arm64', 'arch: amd64', 'selectors overlap'],
    ['an unknown platform', 'arch: arm64', 'arch: s390x', 'a selector matches nothing'],
    ['an unknown key', 'arch: arm64', 'libc: musl', 'selector'],
    ['a script for Windows', 'kubectl-netsvc_upgrade.exe', 'kubectl-netsvc_upgrade', 'bin is no .exe'],
    ['a wrong name', 'name: netsvc-upgrade', 'name: netsvc upgrade', 'name'],
  ];
  for (const [title, from, to, fault] of broken) {
    it(`refuse ${title}`, () => {
      const changed = manifest.replace(from, to);
      assert.notEqual(changed, manifest);
      assert.ok(krewIndexFaults(changed, 'netsvc-upgrade.yaml').includes(fault));
    });
  }
});
