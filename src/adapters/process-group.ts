/** Whether programs can be started in a group of their own, which a Ctrl-C at the terminal does not reach. */
export const GROUPED = process.platform !== 'win32';

/** Ends a program of a group of its own and what it had started. */
export function endGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (!GROUPED || pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in the group.
  }
}
