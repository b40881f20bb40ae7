/** Below it, memory is given back for nothing: a small cluster never comes here. Bytes. */
const MUCH = 128 * 1024 * 1024;
/** As much more than what was left the last time is worth the time. */
const MORE = 1.12;

let enough = MUCH;

/**
 * To be called after each answer of the cluster: what it held is needed no more. V8 keeps emptied pages for later, while what comes next may
 * need other memory; it gives them back where they are much. Needs `--expose-gc`, as the start script has it.
 */
export function giveMemoryBack(): void {
  if (!globalThis.gc || process.memoryUsage.rss() <= enough) return;
  globalThis.gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  enough = Math.max(MUCH, process.memoryUsage.rss() * MORE);
}
