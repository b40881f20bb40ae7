import assert from 'node:assert/strict';
import { within } from '../support/installed-cluster.ts';
import {
  BACK,
  FILES,
  killedAfter,
  killedOnce,
  RUN,
  SOURCES,
  type SweptCluster,
  sweptCluster,
  writeAsNew,
} from '../support/rollback-sweep.ts';
import { numbersFrom, seedOf } from '../support/seed.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';

const seconds = (value: number): string => `${Math.round(value)} s`;

/** Everything is as before the upgrade, and the next rollback writes nothing. */
async function assertBack(cluster: SweptCluster): Promise<void> {
  assert.deepEqual(await cluster.left(), []);
  const again = await cluster.command(BACK);
  assertSucceeded(again);
  assert.match(again.stdout, /Nothing was changed by this command/);
  assert.deepEqual(await cluster.left(), []);
}

/** Its title says how long each way took. */
describe('a rollback from the end of an upgrade, on a real control plane', function () {
  this.timeout(900_000);
  for (const source of SOURCES)
    for (const file of FILES)
      it(`${source} ${file}`, async function () {
        await within(sweptCluster({ source, file }), async (cluster) => {
          const forward = await cluster.timed(RUN);
          await writeAsNew(cluster.plane.api);
          const back = await cluster.timed(BACK);
          await assertBack(cluster);
          const renamed = `${cluster.renamed.length} renamed`;
          if (this.test) this.test.title += `: equal, ${renamed}, forward ${seconds(forward)}, back ${seconds(back)}`;
        });
      });
});

const PARTS = [
  ['the configuration', 'daemonsets/calico-node'],
  ['the agents', 'deployments/calico-typha'],
  ['Typha', 'deployments/calico-kube-controllers'],
] as const;

describe('a rollback from the end of each wave, on a real control plane', function () {
  this.timeout(900_000);
  for (const source of ['v3.20.6', 'v3.29.7'])
    for (const [wave, next] of PARTS)
      it(`${source}, after ${wave}`, () =>
        within(sweptCluster({ source, file: 'calico-typha.yaml' }), async (cluster) => {
          await killedOnce(cluster, next, RUN);
          assertSucceeded(await cluster.command(BACK));
          await assertBack(cluster);
        }));
});

const SEED = 49;
/** Of 200 points, which a machine needs a night for. */
const KILLS = Number(process.env.KILLS ?? 4);

describe('a rollback that is killed', function () {
  this.timeout(3_600_000);
  it(`at ${KILLS} points of one rollback, each with SIGKILL, goes on with the same command`, () =>
    within(sweptCluster({ source: 'v3.26.4', file: 'calico-typha.yaml' }), async (cluster) => {
      const next = numbersFrom(seedOf(process.env, SEED));
      let kills = 0;
      while (kills < KILLS) {
        await cluster.timed(RUN);
        await writeAsNew(cluster.plane.api);
        const lastsMs = 30_000;
        // Several points of one way back: each continues where the last was ended.
        for (let ended = true; ended && kills < KILLS; kills += Number(ended)) ended = await killedAfter(cluster, next() * lastsMs, BACK);
        assertSucceeded(await cluster.command(BACK));
        await assertBack(cluster);
      }
    }));
});
