import { createHash } from 'node:crypto';
import { basename, posix } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import type { Artifact } from '../../kernel/ports.ts';
import { isUrl } from './place.ts';

/** A proxy's login page or an empty answer must not be taken for a release file. */
export function refuseWrongContent(bytes: Uint8Array, url: string): Uint8Array {
  const start = new TextDecoder().decode(bytes.subarray(0, 200)).trimStart().toLowerCase();
  const problem =
    bytes.length === 0 ? 'is empty' : start.startsWith('<!doctype') || start.startsWith('<html') ? 'is a web page' : undefined;
  if (problem)
    throw new Fault('failed', `${url} ${problem}, not a release file`, ['check --manifest-url and the proxy between here and there']);
  return bytes;
}

/** `url` is the address or the path that the bytes came from. */
export function artifactOf(url: string, bytes: Uint8Array): Artifact {
  const file = isUrl(url) ? decodeURIComponent(posix.basename(new URL(url).pathname)) : basename(url);
  return { url, file, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}
