import { describeOwnedUpgradeSweep } from '../support/owned-upgrade-sweep.ts';
import { seedOf } from '../support/seed.ts';

// Always the same points unless asked: `npm run test:full` has the chance, and many more.
// Chance has no watch among so few points, and not the middle of the journal's end.
describeOwnedUpgradeSweep({
  points: 3,
  seed: seedOf(process.env, 1),
  and: [
    { kind: 'gone', among: 'watches', nth: 2 },
    { kind: 'kill-after', among: 'writes', nth: -6 },
  ],
});
