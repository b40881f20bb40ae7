import { isAbsolute, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Fault } from '../../kernel/fault.ts';

export const isUrl = (path: string): boolean => /^https?:\/\//.test(path);

/** A bare path may hold anything but a scheme; of one letter, that is a drive. */
export function folderOf(source: string): string {
  try {
    if (source.startsWith('file://')) return fileURLToPath(source);
  } catch (thrown) {
    throw notASource(source, thrown);
  }
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) throw notASource(source);
  return source;
}

export function notASource(source: string, cause?: unknown): Fault {
  const advice = 'give --manifest-url an https:// address, or a folder of the same layout';
  return new Fault('usage', `${source} is not a source of release files`, [advice], cause);
}

/** A file of a folder source. Throws Fault('usage') for a name that leads out of it. */
export function within(folder: string, release: string, path: string): string {
  const file = join(folder, release, path);
  const inside = relative(folder, file);
  if (!isAbsolute(inside) && inside !== '' && !/^\.\.(?:[\\/]|$)/.test(inside)) return file;
  throw new Fault('usage', `${path} of ${release} leaves ${folder}`, ['correct --release and the profile']);
}
