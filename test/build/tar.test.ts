import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ArchiveFile, tar, tarGz } from '../../build/tar.ts';

const file = (path: string, text: string, executable = false): ArchiveFile => ({ path, content: Buffer.from(text), executable });
const long = `${'folder/'.repeat(16)}${'n'.repeat(90)}.js`;
const files = [file('b/program', '#!/bin/sh\n', true), file('a.txt', 'ä'.repeat(512)), file('empty', ''), file(long, 'long')];

describe('the archive writer', () => {
  it('gives the same bytes for the same files in any order', () => {
    assert.deepEqual(tarGz(files), tarGz([...files].reverse()));
  });

  it('writes what the system’s tar unpacks, with content, modes and long paths', () => {
    const folder = mkdtempSync(join(tmpdir(), 'netsvc tar '));
    try {
      writeFileSync(join(folder, 'it.tar.gz'), tarGz(files));
      const { status, stderr } = spawnSync('tar', ['-xzf', 'it.tar.gz'], { cwd: folder, encoding: 'utf8' });
      assert.deepEqual([status, stderr], [0, '']);
      for (const { path, content, executable } of files) {
        assert.deepEqual(readFileSync(join(folder, path)), content);
        assert.equal((statSync(join(folder, path)).mode & 0o111) !== 0, executable);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('holds no owner, no time of packing and regular files only', () => {
    const head = tar([file('one', 'x')]);
    assert.equal(head.toString('latin1', 100, 107), '0000644');
    assert.equal(head.toString('latin1', 108, 124), '0000000\u00000000000\u0000');
    assert.equal(head.toString('latin1', 136, 147), '02263523000');
    assert.equal(head.toString('latin1', 156, 157), '0');
  });

  for (const path of ['../up', '/root', 'a..b', 'a\\b', '', `${'n'.repeat(101)}`]) {
    it(`refuses the path "${path.slice(0, 10)}"`, () => assert.throws(() => tar([file(path, '')]), /path/));
  }

  it('refuses the same path twice', () => assert.throws(() => tar([file('a', '1'), file('a', '2')]), /a is twice/));
});
