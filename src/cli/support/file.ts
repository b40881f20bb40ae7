import { lstat } from 'node:fs/promises';
import { tarGz } from '../../adapters/tar.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { assertPlace } from '../output-place.ts';
import type { BundleFile } from './bundle.ts';

/** One folder holds what is unpacked. */
const FOLDER = 'netsvc-upgrade-support';

/** Refuses, before the cluster is asked anything, a bundle that could not be written or would replace something. Throws Fault('usage'). */
export async function assertBundlePlace(file: string): Promise<void> {
  await assertPlace('--support', file);
  const isThere = await lstat(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw existing(file);
}

/** Writes the bundle whole or not at all, for its owner only. Returns its size in bytes. */
export async function writeBundle(file: string, files: readonly BundleFile[], at: Date): Promise<number> {
  const { writeDurablyNew } = await import('../../adapters/durable-write.ts');
  const entries = files.map(({ path, text }) => ({ path: `${FOLDER}/${path}`, content: Buffer.from(text) }));
  const bytes = tarGz(entries, 6, { mode: 0o600, modified: Math.floor(at.getTime() / 1000) });
  try {
    await writeDurablyNew(file, bytes, 0o600);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') throw existing(file);
    const next = 'name a file in a folder that you may write to: --support FILE.tgz';
    throw new Fault('failed', `the bundle could not be written: ${messageOf(thrown)}`, [next], thrown);
  }
  return bytes.length;
}

function existing(file: string): Fault {
  return new Fault('usage', `--support ${file} exists already: it is kept`, ['name another file: --support FILE.tgz']);
}
