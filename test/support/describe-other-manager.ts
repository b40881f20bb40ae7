import assert from 'node:assert/strict';
import { refText } from '../../src/kernel/object.ts';
import { assertWritesNothing, type InstalledCluster, installedCluster } from './installed-cluster.ts';
import { objectOf, plannedObjects, surprises } from './plan-document.ts';
import { manifestFile, releases } from './releases.ts';
import { CALICO_TARGET } from './target.ts';
import { assertSucceeded } from './upgrade-process.ts';

const CALICO = ['--profile', 'calico', '--release', CALICO_TARGET, '--manifest-url', releases] as const;
const AGENT = 'ds -n kube-system calico-node';

/** Kinds of old releases, which kubectl names and goes on. */
const NO_LONGER_SERVED = /no matches for kind|ensure CRDs are installed first|^Warning: /;

export interface OtherManager {
  readonly release: string;
  readonly file: string;
  /** What the old release had and the target has not, by the plan's paths. */
  readonly goes: readonly string[];
}

/** A release that was applied client-side, and then server-side by a delivery tool with a field manager of its own. */
export function describeOtherManager({ release, file, goes }: OtherManager): void {
  describe(`${file} of ${release}, applied client-side and then server-side by gitops-bot`, function () {
    this.timeout(240_000);
    let cluster: InstalledCluster;
    before(async () => {
      const manifest = manifestFile(release, file);
      cluster = await installedCluster({ manifest, nodes: 2 });
      const bot = ['apply', '--server-side', '--force-conflicts', '--field-manager=gitops-bot', '-f', manifest];
      const { exitCode, stderr } = await cluster.plane.kubectl(bot);
      const strange = stderr.split('\n').filter((line) => line !== '' && !NO_LONGER_SERVED.test(line));
      assert.deepEqual([exitCode === 0 || stderr !== '', strange], [true, []]);
    });
    after(() => cluster?.stop());

    it('is planned as it comes out, and the agents roll once', async () => {
      const generation = Number(await cluster.read(AGENT, '{.metadata.generation}'));
      const { stdout } = await cluster.upgrade('plan', ...CALICO, '-o', 'json');
      const objects = plannedObjects(stdout);
      const agent = objects.find(({ ref }) => refText(ref) === 'DaemonSet/kube-system/calico-node');
      const removed = agent?.fields.flatMap(({ path, after }) => (after === undefined ? [path] : [])) ?? [];
      for (const name of goes)
        assert.ok(
          removed.some((path) => path.includes(`[${name}]`)),
          `${name} is not in the plan: ${removed}`,
        );
      const applied = objects.filter(({ change }) => change !== 'left-behind');
      const other = await surprises(
        applied,
        (ref) => objectOf(cluster.plane, ref),
        async () => {
          assertSucceeded(await cluster.upgrade('run', '--yes', '--skip', 'cli', ...CALICO));
        },
      );
      assert.deepEqual(other, []);
      assert.equal(await cluster.read(AGENT, '{.metadata.generation}'), String(generation + 1), 'the agents were rolled once');
    });

    it('a second run writes nothing', async () => {
      await assertWritesNothing(cluster, () => cluster.upgrade('run', '--yes', '--skip', 'cli', ...CALICO));
    });
  });
}
