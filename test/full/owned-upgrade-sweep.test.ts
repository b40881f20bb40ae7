import { describeOwnedUpgradeSweep } from '../support/owned-upgrade-sweep.ts';
import { seedOf } from '../support/seed.ts';

/** The writes by which `run` ends its journal: head, two chunks, head. Three writes follow them. */
const JOURNAL_ENDS = [-7, -6, -5, -4];

/** Another day, other points; SEED=N brings those of a failure back. */
describeOwnedUpgradeSweep({
  points: 16,
  seed: seedOf(process.env, Math.floor(Date.now() / 86_400_000)),
  and: [
    ...JOURNAL_ENDS.map((nth) => ({ kind: 'kill-after', among: 'writes', nth }) as const),
    { kind: 'silence-after', among: 'writes', nth: -6 },
    // Chance has few watches to choose from.
    { kind: 'gone', among: 'watches', nth: 2 },
  ],
});
