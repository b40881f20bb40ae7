import { patient } from '../support/patience.ts';

/**
 * Asks again and again until the answer is yes; throws, saying what was wanted, after the limit, which follows the machine.
 * Pauses at least as long as an answer took: asking must not be what the answerer is busy with.
 */
export async function until(wanted: string, ask: () => Promise<boolean>, limitMs = 60_000, everyMs = 100): Promise<void> {
  const limit = patient(limitMs);
  const deadline = Date.now() + limit;
  for (;;) {
    const asked = Date.now();
    const problem = await ask().then(
      (answer) => (answer ? undefined : 'not yet'),
      (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
    );
    if (problem === undefined) return;
    if (Date.now() > deadline) throw new Error(`waited ${Math.round(limit / 1000)} s in vain until ${wanted}: ${problem}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, Date.now() - asked)));
  }
}
