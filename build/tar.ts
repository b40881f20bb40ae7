import { gzipSync } from 'node:zlib';

/** One regular file of an archive. */
export interface ArchiveFile {
  /** Inside the archive, with `/`, relative and clean. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly executable?: boolean;
}

/** 1980-01-01T00:00:00Z: nothing but content decides the bytes, and a zip could hold the same date. */
const MODIFIED = 315532800;
const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** A gzipped ustar archive, byte-identical for the same files. Regular files only: krew refuses links. */
export function tarGz(files: readonly ArchiveFile[], level = 9): Buffer {
  const zipped = gzipSync(tar(files), { level });
  // The tenth byte names the system of the packer (RFC 1952): always Unix.
  zipped[9] = 3;
  return zipped;
}

/** The archive before compression. Throws on a path that krew would refuse or that occurs twice. */
export function tar(files: readonly ArchiveFile[]): Buffer {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const blocks: Uint8Array[] = [];
  let last: string | undefined;
  for (const file of sorted) {
    checkPath(file.path, last);
    last = file.path;
    blocks.push(header(file), file.content, Buffer.alloc((BLOCK - (file.content.length % BLOCK)) % BLOCK));
  }
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

function checkPath(path: string, last: string | undefined): void {
  if (path === last) throw new Error(`${path} is twice in the archive`);
  if (path === '' || path.startsWith('/') || path.includes('\\') || path.includes('..')) throw new Error(`krew refuses the path "${path}"`);
}

function header({ path, content, executable }: ArchiveFile): Buffer {
  const block = Buffer.alloc(BLOCK);
  const [prefix, name] = split(path);
  block.write(name, 0);
  octal(block, executable ? 0o755 : 0o644, 100, 8);
  for (const at of [108, 116, 329, 337]) octal(block, 0, at, 8);
  octal(block, content.length, 124, 12);
  octal(block, MODIFIED, 136, 12);
  block.fill(' ', 148, 156);
  block.write('0', 156);
  block.write('ustar\u000000', 257, 'latin1');
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148, 'latin1');
  return block;
}

/** A long path is cut at a slash into ustar's two fields. */
function split(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= NAME_BYTES) return ['', path];
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= PREFIX_BYTES && Buffer.byteLength(name) <= NAME_BYTES) return [prefix, name];
  }
  throw new Error(`the path "${path}" is too long for a tar archive`);
}

function octal(block: Buffer, value: number, at: number, width: number): void {
  block.write(value.toString(8).padStart(width - 1, '0'), at, 'latin1');
}
