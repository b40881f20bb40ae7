import { Fault } from '../../kernel/fault.ts';
import type { Clock } from '../../kernel/ports.ts';
import type { Orphan } from './orphans.ts';

const POLL_MS = 500;
/** A program that hangs needs the user: waiting longer would only hide it. */
const PATIENCE_MS = 120_000;

export interface AwaitOrphans {
  readonly orphans: () => Promise<readonly Orphan[]>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly say: (text: string) => void;
  /** Ctrl-C ends the wait. */
  readonly stop: AbortSignal;
}

/** Resolves when no ended run's program can write. Throws Fault('locked') if that takes too long, Fault('interrupted') at Ctrl-C. */
export async function awaitOrphans({ orphans, clock, say, stop }: AwaitOrphans): Promise<void> {
  for (let waited = 0; ; waited += POLL_MS) {
    const left = await orphans();
    if (left.length === 0) return;
    const names = left.map(({ pid, program }) => `${program} (process ${pid})`).join(', ');
    if (waited >= PATIENCE_MS) throw stillThere(names, left);
    if (waited === 0)
      say(`waiting for ${names}: a run that does not hold the lock any more has started it, and it may still write to this cluster`);
    await clock.sleep(POLL_MS, stop).catch((thrown: unknown) => {
      if (!stop.aborted) throw thrown;
    });
    if (stop.aborted) throw new Fault('interrupted', `stopped while waiting for ${names}`, ['run the same command again']);
  }
}

function stillThere(names: string, left: readonly Orphan[]): Fault {
  const fact = `${names}, started by a run that does not hold the lock any more, has not ended for ${PATIENCE_MS / 1000} s and may still write to this cluster`;
  return new Fault('locked', fact, [
    `end it with: kill ${left.map(({ pid }) => pid).join(' ')}`,
    'then run the same command again: what is done stays done',
  ]);
}
