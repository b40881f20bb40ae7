import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault } from '../../kernel/fault.ts';
import type { OwnerJournal } from '../../kernel/owner-journal.ts';
import { writeDurably } from '../durable-write.ts';
import type { Unacknowledged } from './read.ts';

/** Writes the whole journal as readable JSON to a new file (0600). Throws Fault('usage') if there is one already. */
export async function writeArchive(file: string, journal: OwnerJournal, unacknowledged: readonly Unacknowledged[]): Promise<string> {
  if (await stat(file).catch(() => undefined))
    throw new Fault('usage', `${file} is there already`, ['name a new file: an archive is never overwritten']);
  await writeDurably(file, Buffer.from(`${JSON.stringify({ ...journal, unacknowledged }, undefined, 1)}\n`), 0o600);
  await syncFolder(dirname(file));
  return file;
}

/** Makes the names in a folder durable. Windows cannot, and needs not. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
