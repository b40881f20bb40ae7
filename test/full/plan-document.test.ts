import assert from 'node:assert/strict';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { installedCluster } from '../support/installed-cluster.ts';
import { kvstoreCluster } from '../support/kvstore-cluster.ts';
import { objectOf, plannedObjects, surprises } from '../support/plan-document.ts';
import { manifestFile, releases } from '../support/releases.ts';
import { CALICO_TARGET } from '../support/target.ts';
import { assertSucceeded, type UpgradeProcess } from '../support/upgrade-process.ts';

const TARGET = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;

/** One release of each variant of a manifest install. */
const VARIANTS = [
  ['calico.yaml', 'v3.27.5'],
  ['calico-typha.yaml', 'v3.23.5'],
  ['calico-policy-only.yaml', 'v3.20.6'],
  ['canal.yaml', 'v3.27.5'],
] as const;
const STORES = [
  ['calico-etcd.yaml', 'v3.27.5'],
  ['canal-etcd.yaml', 'v3.23.5'],
] as const;

interface Program {
  readonly plane: ControlPlane;
  upgrade(...args: readonly string[]): Promise<UpgradeProcess>;
  stop(): Promise<void>;
}

/** What `plan` of the built program says, and then what its `run` makes of each object. */
async function assertPlanIsResult({ plane, upgrade }: Program, flags: readonly string[]): Promise<void> {
  const planned = await upgrade('plan', '-o', 'json', '--skip', 'cli', ...flags);
  assertSucceeded(planned);
  const objects = plannedObjects(planned.stdout);
  assert.ok(objects.length >= 15, `${objects.length} objects`);
  const different = await surprises(
    objects,
    (ref) => objectOf(plane, ref),
    async () => {
      assertSucceeded(await upgrade('run', '--yes', '--skip', 'cli', ...flags));
    },
  );
  assert.deepEqual(different, []);
  const counts = Map.groupBy(objects, ({ change }) => change);
  console.log(`        ${[...counts].map(([change, all]) => `${all.length} ${change}`).join(', ')}`);
}

describe('the document of `plan`, on a real control plane', function () {
  this.timeout(600_000);
  let program: Program | undefined;
  afterEach(async () => {
    await program?.stop();
    program = undefined;
  });

  for (const [file, release] of VARIANTS)
    it(`says of each object and field what \`run\` then does: ${file} ${release}`, async () => {
      program = await installedCluster({ manifest: manifestFile(release, file), nodes: 2 });
      await assertPlanIsResult(program, TARGET);
    });

  for (const [file, release] of STORES)
    it(`says of each object and field what \`run\` then does: ${file} ${release}`, async () => {
      program = await kvstoreCluster(release, file, { nodes: 2 });
      await assertPlanIsResult(program, []);
    });
});
