/** Below it, memory is given back for nothing: a small cluster never comes here. Bytes. */
const MUCH = 128 * 1024 * 1024;
/** As much more than what was left the last time is worth the time. */
const MORE = 1.07;

let enough = MUCH;

/**
 * To be called with each piece of what is read, be it an answer of the cluster or a file that is unpacked. Buffers lie outside V8's heap,
 * which does not look at them before they are many; this does. Needs `--expose-gc`, as the start script has it.
 */
export function giveMemoryBack(): void {
  if (!globalThis.gc || process.memoryUsage.rss() <= enough) return;
  globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  enough = Math.max(MUCH, process.memoryUsage.rss() * MORE);
}
