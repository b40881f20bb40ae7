import { type Clock, isPassing } from './ports.ts';

const TRIES = 4;
const PAUSE_MS = 1_000;

/** Sends again where no answer came, or one that tells to come back. What is sent may have been done each time. */
export async function persisting(clock: Pick<Clock, 'sleep'>, send: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send(attempt);
    } catch (thrown) {
      if (!isPassing(thrown) || attempt === TRIES) throw thrown;
      await clock.sleep(PAUSE_MS * attempt);
    }
  }
}
