import assert from 'node:assert/strict';
import { usualChain } from '../../src/features/chain.ts';
import { INSTALL_PATHS } from '../../src/kernel/installation.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { PATH_RUNS, type PathRun, performerOf } from '../support/path-runs.ts';

describe('every install path of every profile, from start to end', () => {
  for (const profile of shippedProfiles)
    for (const path of INSTALL_PATHS)
      it(`${profile.name} by ${path}`, async () => {
        const run = PATH_RUNS[profile.name]?.[path] ?? assert.fail(`no run goes the path ${path} of ${profile.name}`);
        await goes(run, profile, path);
      });

  for (const path of INSTALL_PATHS)
    it(`netsvc by ${path}, each stage on a machine of its own that has nothing`, async () => {
      const run = PATH_RUNS.netsvc?.[path] ?? assert.fail(`no run goes the path ${path}`);
      const scenario = await run.open();
      const perform = performerOf(scenario, run, netsvc);
      let lost = 0;
      for (const [index, { id }] of usualChain.entries()) {
        const machine = `/pod-${index}`;
        const { exit, message } = await perform(usualChain.slice(0, index + 1), machine);
        assert.deepEqual([id, exit, message], [id, 'done', undefined]);
        for (const file of scenario.files.below(machine)) {
          scenario.files.remove(file);
          lost += 1;
        }
      }
      assert.ok(lost > 0, 'no machine had anything');
      await assertUpgraded(scenario, path, perform);
    });

  it('has no run of a profile that there is not', () => {
    assert.deepEqual(Object.keys(PATH_RUNS).toSorted(), shippedProfiles.map(({ name }) => name).toSorted());
  });
});

type Perform = ReturnType<typeof performerOf>;

/** Upgraded by that very path, and a second run has nothing to do but to look. */
async function goes(run: PathRun, profile: Profile, path: string): Promise<void> {
  const scenario = await run.open();
  const perform = performerOf(scenario, run, profile);
  const first = await perform();
  const errors = first.findings.filter(({ outcome }) => outcome === 'error').map(({ id, message }) => `${id} ${message}`);
  assert.deepEqual([first.exit, first.message, errors], ['done', undefined, []]);
  await assertUpgraded(scenario, path, perform);
}

async function assertUpgraded(scenario: Scenario, path: string, perform: Perform): Promise<void> {
  const { record } = scenario.state;
  assert.equal(record?.path, path);
  assert.ok(
    record.stages.every(({ state }) => ['done', 'skipped'].includes(state)),
    JSON.stringify(record.stages),
  );
  const { writes } = scenario.cluster.faults;
  const second = await perform();
  assert.deepEqual([second.exit, second.message, scenario.cluster.faults.writes], ['done', undefined, writes]);
}
