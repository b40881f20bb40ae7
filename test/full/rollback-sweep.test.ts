import assert from 'node:assert/strict';
import { within } from '../support/installed-cluster.ts';
import {
  BACK,
  FILES,
  killedAfter,
  killedOnce,
  RUN,
  runFrom,
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
          const forward = await cluster.timed(runFrom({ source, file }));
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
  for (const source of SOURCES)
    for (const [wave, next] of PARTS)
      it(`${source}, after ${wave}`, () =>
        within(sweptCluster({ source, file: 'calico-typha.yaml' }), async (cluster) => {
          await killedOnce(cluster, next, RUN);
          assertSucceeded(await cluster.command(BACK));
          await assertBack(cluster);
        }));
});

const SEED = 49;
/** Of 200 points, which take half an hour: each portion with another SEED. */
const KILLS = Number(process.env.KILLS ?? 4);
/** Of what an untroubled rollback says on such a cluster, a quarter: so each process comes further, and is killed again and again. */
const LINES = 30;

describe('a rollback that is killed', function () {
  this.timeout(3_600_000);
  it(`at ${KILLS} points, each with SIGKILL, goes on with the same command`, async function () {
    await within(sweptCluster({ source: 'v3.26.4', file: 'calico-typha.yaml' }), async (cluster) => {
      const next = numbersFrom(seedOf(process.env, SEED));
      let [kills, rollbacks] = [0, 0];
      for (; kills < KILLS; rollbacks += 1) {
        await cluster.timed(RUN);
        await writeAsNew(cluster.plane.api);
        for (let goes = true; goes && kills < KILLS; kills += Number(goes))
          goes = await killedAfter(cluster, Math.ceil(next() * LINES), BACK);
        assertSucceeded(await cluster.command(BACK));
        await assertBack(cluster);
      }
      if (this.test) this.test.title += `, in ${rollbacks} rollbacks`;
    });
  });
});
