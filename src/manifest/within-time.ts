import { Script } from 'node:vm';

/** Where a script finds the work: it sees what is global alone. */
const PLACE = Symbol.for('netsvc-upgrade/work');

/** Only what a script does can be ended from outside. */
const RUN = new Script("globalThis[Symbol.for('netsvc-upgrade/work')]()");

/**
 * What `work` returns; undefined if it did not end within that many milliseconds. It is ended wherever it is, so it must not change anything
 * that outlives it.
 */
export function withinTime<T>(ms: number, work: () => T): T | undefined {
  const shared = globalThis as { [PLACE]?: () => T };
  shared[PLACE] = work;
  try {
    return RUN.runInThisContext({ timeout: ms }) as T;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw thrown;
  } finally {
    delete shared[PLACE];
  }
}
