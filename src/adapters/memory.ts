/** Below it, memory is given back for nothing. Bytes. */
const MUCH = 128 * 1024 * 1024;
/** As much more than what was left the last time is worth the time. */
const MORE = 1.07;
/** A small cluster never comes here, and would pay a quarter of its time for it. Bytes. */
const LARGE = 64 * 1024 * 1024;

let enough = MUCH;
let total = 0;

/**
 * To be called with each piece of what is read, be it an answer of the cluster or a file that is unpacked. Buffers lie outside V8's heap,
 * which does not look at them before they are many; this does. Needs `--expose-gc`, as the start script has it.
 */
export function giveMemoryBack(readBytes = 0): void {
  total += readBytes;
  if (!globalThis.gc || total < LARGE || process.memoryUsage.rss() <= enough) return;
  globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  enough = Math.max(MUCH, process.memoryUsage.rss() * MORE);
}
