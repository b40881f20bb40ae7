import type { Sums } from '../../src/adapters/artifacts/checked.ts';

/** No sum is known, and no release is the target. */
export const NO_SUMS: Sums = { target: '', given: new Map(), shipped: async () => undefined };
