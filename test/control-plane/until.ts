/**
 * Asks again and again until the answer is yes; throws, saying what was wanted, after the limit.
 * Pauses at least as long as an answer took: asking must not be what the answerer is busy with.
 */
export async function until(wanted: string, ask: () => Promise<boolean>, limitMs = 60_000, everyMs = 100): Promise<void> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const asked = Date.now();
    const problem = await ask().then(
      (answer) => (answer ? undefined : 'not yet'),
      (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
    );
    if (problem === undefined) return;
    if (Date.now() > deadline) throw new Error(`waited ${Math.round(limitMs / 1000)} s in vain until ${wanted}: ${problem}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, Date.now() - asked)));
  }
}
