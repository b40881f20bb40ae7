/**
 * Ends what its parent started, if the parent cannot do it: the parent died (its end of our stdin closed) or took too long.
 * Arguments: minutes, folder to remove. Lines on stdin: `+PID` watch, `-PID` it has ended, `done` all is well.
 */
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';

const [minutes = '60', folder = ''] = process.argv.slice(2);
const GRACE_MS = 2000;
const watched = new Set<number>();
let allIsWell = false;

const limit = setTimeout(endAll, Number(minutes) * 60_000);
const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const pid = Number(line.slice(1));
  if (line === 'done') allIsWell = true;
  else if (line.startsWith('+')) watched.add(pid);
  else if (line.startsWith('-')) watched.delete(pid);
});
lines.on('close', () => {
  clearTimeout(limit);
  if (!allIsWell) void endAll();
});

async function endAll(): Promise<void> {
  signalAll('SIGTERM');
  await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
  signalAll('SIGKILL');
  if (folder !== '') await rm(folder, { recursive: true, force: true });
  process.exit(0);
}

function signalAll(signal: NodeJS.Signals): void {
  for (const pid of watched) {
    try {
      process.kill(pid, signal);
    } catch {
      watched.delete(pid); // it has ended already
    }
  }
}
