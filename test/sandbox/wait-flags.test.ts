import assert from 'node:assert/strict';
import { targetFlags } from '../../src/cli/target-flags.ts';
import type { Wait } from '../../src/kernel/action.ts';
import type { InstallPath } from '../../src/kernel/installation.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { PATH_RUNS, performerOf } from '../support/path-runs.ts';
import type { Flags } from '../support/sandbox-ports.ts';

interface FlagOfWaits {
  readonly flags: Flags;
  /** Of the waits of a whole run, each that brings a workload of the service to the target. */
  isIn(wait: Wait): boolean;
}

/** A flag of waits is a row here: what it is given, and by what each wait shows that it has read it. */
const FLAGS: Readonly<Record<string, FlagOfWaits>> = {
  timeout: { flags: { timeout: '53m' }, isIn: ({ timeoutMs }) => timeoutMs === 53 * 60_000 },
};

const OF_WORKLOADS = ['rollout', 'operator-end', 'operator-settled'];

describe('a flag of the waits is read on every install path', () => {
  for (const [name, { flags, isIn }] of Object.entries(FLAGS))
    for (const profile of shippedProfiles)
      for (const path of targetFlags.path.options)
        it(`--${name} on that of ${profile.name} by ${path}`, async () => {
          const waits = await waitsOf(profile, path, flags);
          assert.ok(waits.length > 0);
          assert.deepEqual(
            waits.filter((wait) => !isIn(wait)).map(({ until }) => until),
            [],
          );
        });
});

/** The waits for workloads of a run with these flags. */
async function waitsOf(profile: Profile, path: InstallPath, flags: Flags): Promise<readonly Wait[]> {
  const run = PATH_RUNS[profile.name]?.[path] ?? assert.fail(`no run goes the path ${path} of ${profile.name}`);
  const waits: Wait[] = [];
  const perform = performerOf(await run.open(), { ...run, flags: { ...run.flags, ...flags } }, profile, (event) => {
    if (event.type !== 'action-done' || event.action.effect.type !== 'wait') return;
    if (OF_WORKLOADS.includes(event.action.effect.until.type)) waits.push(event.action.effect);
  });
  const { exit, message } = await perform();
  assert.deepEqual([exit, message], ['done', undefined]);
  return waits;
}
