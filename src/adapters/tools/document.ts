import { createHash } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import type { Invocation } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';

/** The SHA-256 of a file of the work folder as this process wrote it; undefined for a file that it did not write. */
export type WrittenSum = (file: string) => string | undefined;

/** A program's arguments, and the open file that it reads as its standard input. */
export interface WithDocument {
  readonly args: readonly string[];
  readonly document?: FileHandle;
  /** Its path, for a person. */
  readonly from?: string;
}

/** Which argument names a document, and what stands there where kubectl reads it from its standard input. */
const FLAGS: Readonly<Record<string, string>> = { '-f': '-', '--patch-file': '/dev/stdin' };

/**
 * kubectl gets a document of the work folder as its standard input. The path could lead to another file by the time kubectl opens it; the
 * open file cannot. It is read once before: only what this process wrote goes to the cluster. Whole, too, if this process is killed: a pipe
 * would end in the middle. Throws Fault('failed').
 */
export async function withDocument(
  { tool, args }: Invocation,
  written: WrittenSum,
  platform: string = process.platform,
): Promise<WithDocument> {
  const at = tool === 'kubectl' ? args.findIndex((argument) => Object.hasOwn(FLAGS, argument)) + 1 : 0;
  const [flag = '', file = '-'] = args.slice(at - 1, at + 1);
  if (at === 0 || file === '-') return { args };
  const document = await openWritten(file, written(file));
  // Windows has no name for it: the file is checked, and given by its path.
  if (flag !== '-f' && platform === 'win32') {
    await document.close();
    return { args };
  }
  return { args: args.with(at, FLAGS[flag] ?? file), document, from: file };
}

async function openWritten(file: string, sha256: string | undefined): Promise<FileHandle> {
  const refuse = (why: string, cause?: unknown) =>
    new Fault(
      'failed',
      `${file} is not applied: ${why}`,
      [`see who may write there: ls -ld ${file}`, 'then run the same command again'],
      cause,
    );
  if (sha256 === undefined) throw refuse('this command did not write it');
  const document = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((thrown: NodeJS.ErrnoException) => {
    throw refuse(thrown.code === 'ELOOP' ? 'it is a symbolic link now' : thrown.message, thrown);
  });
  try {
    const { uid, mode, size } = await document.stat();
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) throw refuse('another user could write it');
    // With its place given, the file's own place stays at the beginning: the program reads from there.
    const { buffer, bytesRead } = await document.read(Buffer.alloc(size), 0, size, 0);
    const is = createHash('sha256').update(buffer.subarray(0, bytesRead)).digest('hex');
    if (is !== sha256) throw refuse(`it was changed after it was written (sha256 ${is.slice(0, 12)}…, was ${sha256.slice(0, 12)}…)`);
    return document;
  } catch (thrown) {
    await document.close();
    throw thrown;
  }
}
