import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { integrityOf, type Runtime, readRuntimeLock, runtimeFile } from '../../build/pack-runtimes.ts';
import { tarGz } from '../../build/tar.ts';
import { emptyFolder } from '../support/folders.ts';

const { runtimes, builders } = readRuntimeLock();

describe('the lock of the runtimes', () => {
  it('has one for each platform', () => {
    const platforms = ['linux', 'darwin', 'windows'].flatMap((os) => [`${os}/amd64`, `${os}/arm64`]);
    assert.deepEqual(
      runtimes.map(({ os, arch }) => `${os}/${arch}`),
      platforms,
    );
  });

  it('pins every package by a whole sha512', () => {
    for (const { integrity } of [...runtimes, ...builders])
      assert.equal(Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').length, 64);
  });

  it('has a builder of exactly the version of each Windows runtime', () => {
    for (const { version } of runtimes.filter(({ os }) => os === 'windows')) assert.ok(builders.some((one) => one.version === version));
  });

  it('has for linux a Node.js that needs no libatomic, which small systems lack: it came with version 25', () => {
    for (const { version } of runtimes.filter(({ os }) => os === 'linux')) assert.ok(Number(version.split('.')[0]) < 25);
  });

  it('holds versions that the program runs on', () => {
    for (const { version } of runtimes) assert.ok(Number(version.split('.')[0]) >= 22);
  });
});

describe('a runtime’s package', () => {
  const bytes = tarGz([{ path: 'package/bin/node', content: Buffer.from('a program') }]);
  const runtime: Runtime = {
    os: 'linux',
    arch: 'amd64',
    package: 'some-node',
    version: '1.0.0',
    file: 'bin/node',
    integrity: integrityOf(bytes),
  };
  const cache = process.env.XDG_CACHE_HOME;
  const folder = emptyFolder('netsvc-cache-');

  beforeEach(() => {
    process.env.XDG_CACHE_HOME = folder;
    mkdirSync(join(folder, 'netsvc-upgrade-runtimes'));
    writeFileSync(join(folder, 'netsvc-upgrade-runtimes', 'some-node-1.0.0.tgz'), bytes);
  });
  afterEach(() => {
    if (cache === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = cache;
  });

  it('is taken from the cache when its sum is the pinned one', () =>
    assert.equal(runtimeFile(runtime, 'bin/node').toString(), 'a program'));

  it('is refused when it is not what the lock pins', () =>
    assert.throws(() => runtimeFile({ ...runtime, integrity: integrityOf(Buffer.from('other')) }, 'bin/node'), /not what the lock pins/));
});
