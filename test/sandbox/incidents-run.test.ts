import assert from 'node:assert/strict';
import type { Change } from '../../src/sandbox/store.ts';
import { groundOf, RUN, said } from '../support/incident-grounds.ts';
import { type After, type IncidentRun, stoppedRuns } from './incident-runs.ts';
import { upgradedRuns } from './incident-upgrades.ts';

/** What the command did to a new ground, with the change that makes it one of those clusters or without. */
async function ran({ ground: name, change, command = RUN, ...run }: IncidentRun): Promise<After & { readonly exit: number }> {
  const ground = await groundOf(name);
  const { scenario } = ground;
  const changes: Change[] = [];
  scenario.cluster.store.listen((one) => void changes.push(one));
  await change?.(scenario.cluster, scenario);
  return { ...(await said(ground, run, command)), scenario, changes };
}

const done: After[] = [];

/** Runs with one ground and the same flags are one run, with all their changes. */
const together = Map.groupBy(Object.entries(upgradedRuns), ([, { ground, command, flags, release }]) =>
  JSON.stringify([ground, command, flags, release]),
);

for (const [, runs] of together)
  describe(`a run on a cluster like those that broke: ${runs[0]?.[1].ground}`, () => {
    let after: After & { readonly exit: number };
    before(async () => {
      const [first = assert.fail()] = runs.map(([, run]) => run);
      const change = async (...around: Parameters<NonNullable<IncidentRun['change']>>) => {
        for (const [, run] of runs) await run.change?.(...around);
        const [, scenario] = around;
        // So that a row proves what the run did, and nothing that was so before.
        for (const [title, { holds }] of runs)
          assert.throws(
            () => holds({ scenario, text: '', changes: [] }),
            () => true,
            title,
          );
      };
      after = await ran({ ...first, change });
      done.push(after);
    });

    for (const [title, { holds, exit }] of runs)
      it(`is done, and ${title}`, () => {
        assert.equal(after.exit, exit, after.text);
        holds(after);
      });
  });

describe('a run on a cluster like those that broke', () => {
  for (const [title, run] of Object.entries(stoppedRuns))
    it(`stops and says what it means: ${title}`, async () => {
      const after = await ran(run);
      assert.equal(after.exit, run.exit, after.text);
      run.holds(after);
    });

  it('says none of it where nothing fails', async () => {
    const { change: _, ...plain } = Object.values(stoppedRuns)[0] ?? assert.fail();
    const after = await ran(plain);
    assert.equal(after.exit, 0, after.text);
    for (const { holds } of Object.values(stoppedRuns)) for (const one of [after, ...done]) assert.throws(() => holds(one));
  });
});
