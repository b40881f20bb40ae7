/** How much slower than usual this machine is: `test/run.ts` measures it once; who runs mocha alone may say it, `TEST_SLOWER=10 npx mocha …`. */
const SLOWER = Math.max(1, Number(process.env.TEST_SLOWER) || 1);

/** The limit of a test or of what it waits for, in milliseconds of a usual machine: as many as this one needs. */
export const patient = (ms: number): number => Math.round(ms * SLOWER);
