import { constants, type FileHandle, open } from 'node:fs/promises';
import type { Invocation } from '../../kernel/argv.ts';
import { localCommand } from '../../kernel/command.ts';
import { Fault } from '../../kernel/fault.ts';
import { look, THEN_AGAIN, text } from '../../kernel/step.ts';
import { sha256Of } from '../../kube/sha256.ts';

/** The SHA-256 of a file of the work folder as this process wrote it; undefined for a file that it did not write. */
export type WrittenSum = (file: string) => string | undefined;

/** Which argument names a document, and what stands there where kubectl reads it from its standard input. */
const FLAGS: Readonly<Record<string, string>> = { '-f': '-', '--patch-file': '/dev/stdin' };

/**
 * Opens a document as kubectl's standard input, after checking that it holds what this process wrote; throws Fault('failed'). An open file
 * cannot be swapped like a path, and a kill does not truncate it like a pipe. `from`: its path, for the user.
 */
export async function withDocument(
  { tool, args }: Invocation,
  written: WrittenSum,
  platform: string = process.platform,
): Promise<{ readonly args: readonly string[]; readonly document?: FileHandle; readonly from?: string }> {
  const at = tool === 'kubectl' ? args.findIndex((argument) => Object.hasOwn(FLAGS, argument)) + 1 : 0;
  const [flag = '', file = '-'] = args.slice(at - 1, at + 1);
  if (at === 0 || file === '-') return { args };
  const document = await openWritten(file, written(file), 'is not applied');
  // Windows has no name for it: the file is checked, and given by its path.
  if (flag !== '-f' && platform === 'win32') {
    await document.close();
    return { args };
  }
  return { args: args.with(at, FLAGS[flag] ?? file), document, from: file };
}

/** Opens a file, after checking that it holds what this process wrote; throws Fault('failed') that says what does not happen: `is not applied`. */
export async function openWritten(file: string, sha256: string | undefined, otherwise: string): Promise<FileHandle> {
  const refuse = (why: string, cause?: unknown) =>
    new Fault(
      'failed',
      `${file} ${otherwise}: ${why}`,
      [look(text`see who may write there: ${localCommand`ls -ld ${file}`}`), THEN_AGAIN],
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
    const is = sha256Of(buffer.subarray(0, bytesRead));
    if (is !== sha256) throw refuse(`it was changed after it was written (sha256 ${is.slice(0, 12)}…, was ${sha256.slice(0, 12)}…)`);
    return document;
  } catch (thrown) {
    await document.close();
    throw thrown;
  }
}
