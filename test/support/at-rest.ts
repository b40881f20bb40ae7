import { setTimeout as wait } from 'node:timers/promises';

const LOOKS = 12;

/** The answer that stays the same for a second; throws if none of a dozen does. */
export async function atRest(ask: () => Promise<string>): Promise<string> {
  let before = await ask();
  for (let looks = 0; looks < LOOKS; looks += 1) {
    await wait(1_000);
    const now = await ask();
    if (now === before) return now;
    before = now;
  }
  throw new Error(`it changes all the time; last it was\n${before}`);
}
