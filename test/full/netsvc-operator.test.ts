import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../control-plane/until.ts';
import { assertWritesNothing, shared } from '../support/installed-cluster.ts';
import { netsvcOperated } from '../support/netsvc-cluster.ts';
import { NETSVC_TARGET } from '../support/target.ts';
import { assertSucceeded, startUpgrade, untilSaid } from '../support/upgrade-process.ts';

const HELD_MS = 60_000;
const IMAGES = '{.items[*].spec.template.spec.containers[*].image}';

/** One story: an operator that does nothing for 45 s, then all of it bit by bit, and the agents twice; an old pod of its own stops slowly. */
describe('procedure B under the document’s own names on a real control plane', function () {
  this.timeout(900_000);
  const cluster = shared(() => netsvcOperated({ idleMs: 45_000, apartMs: 15_000, againMs: 40_000 }));
  const run = () => ['run', '--yes', '--skip', 'cli', ...cluster.flags];

  const held = async (space: string, name: string) => {
    const pod = (await cluster.read(`pods -n ${space} -l ${name}`, '{.items[0].metadata.name}')).trim();
    const hold = async (finalizers: readonly string[] | null) => {
      const patch = JSON.stringify({ metadata: { finalizers } });
      assertSucceeded(await cluster.plane.kubectl(['patch', 'pod', pod, '-n', space, '--type=merge', '-p', patch]));
    };
    await hold(['netsvc-upgrade.test/slow']);
    return () => hold(null);
  };

  it('is killed in the wait, run again, and is not done early', async () => {
    const [freeOperator, freeControllers] = [
      await held('netsvc-operator', 'name=netsvc-operator'),
      await held('netsvc-system', 'k8s-app=netsvc-kube-controllers'),
    ];
    const first = startUpgrade(run(), cluster.around, 600_000);
    await untilSaid(first, /1 of 2 pods is still stopping/);
    await freeOperator();
    await untilSaid(first, /^\S+ wait: Wait/m);
    first.kill('SIGKILL');
    assert.equal((await first).signal, 'SIGKILL');
    const second = startUpgrade(run(), cluster.around, 600_000);
    const rolled = '{.spec.template.metadata.annotations.rolled}';
    await until('the agents roll again', async () => (await cluster.read('ds -n netsvc-system netsvc-node', rolled)) === 'again', 300_000);
    await pause(20_000);
    await freeControllers();
    const freedAt = Date.now();
    const result = await second;
    const endedAt = Date.now();
    assert.ok(endedAt - freedAt >= HELD_MS, `it ended ${endedAt - freedAt} ms after an old pod was gone`);
    assertSucceeded(result);
    assert.ok(cluster.changedAt() > 0 && endedAt - cluster.changedAt() >= HELD_MS, `${endedAt - cluster.changedAt()} ms`);
    const images = (await cluster.read('daemonsets,deployments -n netsvc-system', IMAGES)).split(' ');
    assert.equal(images.length, 4);
    assert.deepEqual([...new Set(images.map((image) => image.split(':').at(-1)))], [NETSVC_TARGET]);
    assert.match(await cluster.read('deployments -n netsvc-operator', IMAGES), /:v1\.14\.0$/);
    assert.match(await cluster.read('ds -n netsvc-system netsvc-node', '{.spec.template.metadata.annotations}'), /again/);
    assert.equal(
      await cluster.read('ds -n netsvc-system netsvc-node', '{.status.updatedNumberScheduled}/{.status.numberAvailable}'),
      '3/3',
    );
  });

  it('a second run writes nothing', async () => {
    await assertWritesNothing(cluster, () => cluster.upgrade(...run()));
  });
});
