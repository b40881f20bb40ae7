import { lstat } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { tarGz } from '../../adapters/tar.ts';
import type { SupportPart } from '../../features/support/index.ts';
import { Fault, messageOf } from '../../kernel/fault.ts';
import { withoutCredentials, withoutHiddenValues, withoutNamedCredentials } from '../../kernel/hidden.ts';
import { oneLine } from '../../kernel/visible.ts';
import { assertPlace } from '../ending/file.ts';

/** One folder holds what is unpacked. */
const FOLDER = 'netsvc-upgrade-support';

/** Refuses, before the cluster is asked anything, a bundle that could not be written or would replace something. Throws Fault('usage'). */
export async function assertBundlePlace(file: string): Promise<void> {
  await assertPlace('--support', file);
  if (await lstat(file).catch(() => undefined)) throw existing(file);
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

/** One file of the bundle as it is written. */
interface BundleFile {
  readonly path: string;
  readonly text: string;
}

export const INDEX = 'index.txt';

/** The files of a bundle, masked, its index first. `head` says what the bundle is. */
export async function bundleFiles(
  head: readonly string[],
  parts: readonly SupportPart[],
  stop: () => void,
): Promise<readonly BundleFile[]> {
  const told = parts.map((part, index) => (isTwice(part, index, parts) ? { ...part, content: undefined, unread: TWICE } : part));
  const files: BundleFile[] = [{ path: INDEX, text: indexText(head, told) }];
  for (const { path, content } of told) {
    // Lets Ctrl-C in: hundreds of documents take seconds.
    await turn();
    stop();
    if (content !== undefined) files.push({ path, text: await textOf(path, content) });
  }
  return files;
}

const TWICE = 'another object would have the same file';

function isTwice({ path, content }: SupportPart, index: number, parts: readonly SupportPart[]): boolean {
  return content !== undefined && parts.findIndex((one) => one.path === path && one.content !== undefined) !== index;
}

function indexText(
  head: readonly string[],
  parts: readonly { readonly path: string; readonly what: string; readonly unread?: string | undefined }[],
): string {
  const there = parts.filter(({ unread }) => unread === undefined);
  const missing = parts.filter(({ unread }) => unread !== undefined);
  const lines = [
    ...head,
    '',
    'In this bundle:',
    ...there.map(({ path, what }) => `  ${path}: ${what}`),
    '',
    missing.length === 0 ? 'Nothing is missing.' : 'Not in this bundle:',
    ...missing.map(({ path, what, unread = '' }) => `  ${path}: ${what}: ${unread}`),
  ];
  return lines.map((line) => `${oneLine(withoutNamedCredentials(line))}\n`).join('');
}

async function textOf(path: string, content: string | object): Promise<string> {
  // Reports are made of a document that is masked already.
  if (typeof content === 'string') return /\.(?:md|html)$/.test(path) ? withoutCredentials(content) : withoutNamedCredentials(content);
  const masked = withoutHiddenValues(content);
  if (path.endsWith('.json')) return `${JSON.stringify(masked, undefined, 1)}\n`;
  return (await import('../yaml-text.ts')).yamlText(masked);
}
