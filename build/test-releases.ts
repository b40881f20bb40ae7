import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';

/**
 * Packs whole published manifests for the tests that install or read them (`test/support/releases.ts`): `node build/test-releases.ts
 * FOLDER`, with `RELEASE/manifests/FILE` in it. Take each release from the tag or, if that holds only templates, from the archive of
 * projectcalico/calico (`test/data/NOTICE`).
 */
export const PACKED_RELEASES = join(import.meta.dirname, '..', 'test', 'data', 'releases.json.zst');

/** Every file by its path in the folder. Those of one name follow one another: they differ little. */
export function packReleases(folder: string): Buffer {
  const files = globSync('*/manifests/**/*.yaml', { cwd: folder });
  const inOrder = files.map((file) => ({ file, key: `${basename(file)} ${file}` })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const text = JSON.stringify(Object.fromEntries(inOrder.map(({ file }) => [file, readFileSync(join(folder, file), 'utf8')])));
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: windowLog, ZSTD_c_enableLongDistanceMatching: far } = constants;
  return zstdCompressSync(text, { params: { [level]: 22, [windowLog]: 26, [far]: 1 } });
}

if (import.meta.main) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('name the folder of releases: node build/test-releases.ts FOLDER');
  writeFileSync(PACKED_RELEASES, packReleases(folder));
}
