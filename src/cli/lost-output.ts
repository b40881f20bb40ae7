import { EXIT } from '../kernel/fault.ts';

let isTold = false;

/**
 * A reader that goes away (`| head -1`), or a full disk, ends the output, never the upgrade. For the first lines of the program, and again
 * once oclif's `Command` is loaded: that one throws whatever it does not know.
 */
export function outliveOutput(): void {
  process.stdout.removeAllListeners('error').on('error', (thrown) => lost(thrown, 'stdout'));
  process.stderr.removeAllListeners('error').on('error', (thrown) => lost(thrown, 'stderr'));
}

function lost({ code, message }: NodeJS.ErrnoException, name: 'stdout' | 'stderr'): void {
  if (code === 'EPIPE' || isTold) return;
  isTold = true;
  // What cannot be written must not look written to a script.
  process.once('exit', () => {
    process.exitCode ||= EXIT.failed;
  });
  if (name === 'stdout')
    process.stderr.write(`error: the output could not be written: ${message}\nmake room, then run the same command again\n`);
}

/** Resolves once everything that was written to both is out, or nobody reads it any more: oclif ends the process after an error. */
export async function flushed(): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map(drained));
}

/** A file is written at once, and a write of nothing would fail on a full disk. */
function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.writableLength === 0) setImmediate(resolve);
    else stream.write('', 'utf8', () => resolve());
  });
}
