import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

/**
 * Packs whole published manifests for the tests that install or read them (`test/support/releases.ts`), beside what is packed already:
 * `node build/test-releases.ts FOLDER`, with `RELEASE/manifests/FILE` in it. Take each release from the tag or, if that holds only templates,
 * from the archive of projectcalico/calico (`test/data/NOTICE`).
 */
const PACKED_RELEASES = join(import.meta.dirname, '..', 'test', 'data', 'releases.json.zst');

type Files = Readonly<Record<string, string>>;

/** Every file by its path in the folder, beside those that are packed. Those of one name follow one another: they differ little. */
export function filesWith(folder: string, packed: Files): Files {
  const found = globSync('*/manifests/**/*.yaml', { cwd: folder }).map((file) => [file, readFileSync(join(folder, file), 'utf8')] as const);
  const files = Object.entries({ ...packed, ...Object.fromEntries(found) }).map(([file, text]) => ({
    ...{ file, text },
    key: `${basename(file)} ${file}`,
  }));
  files.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Object.fromEntries(files.map(({ file, text }) => [file, text]));
}

export const unpackedFiles = (): Files => JSON.parse(zstdDecompressSync(readFileSync(PACKED_RELEASES)).toString());

if (import.meta.main) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('name the folder of releases: node build/test-releases.ts FOLDER');
  const text = JSON.stringify(filesWith(folder, unpackedFiles()));
  const { ZSTD_c_compressionLevel: level, ZSTD_c_windowLog: windowLog, ZSTD_c_enableLongDistanceMatching: far } = constants;
  writeFileSync(PACKED_RELEASES, zstdCompressSync(text, { params: { [level]: 22, [windowLog]: 26, [far]: 1 } }));
}
