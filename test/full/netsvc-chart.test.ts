import assert from 'node:assert/strict';
import { assertWritesNothing, shared } from '../support/installed-cluster.ts';
import { needsHelm } from '../support/needs-helm.ts';
import { netsvcCharted } from '../support/netsvc-cluster.ts';
import { NETSVC_TARGET } from '../support/target.ts';
import { assertSucceeded, killedAt } from '../support/upgrade-process.ts';

const IMAGES = '{.items[*].spec.template.spec.containers[*].image}';
const SOON = { idleMs: 3_000, apartMs: 1_000 };

for (const major of [3, 4] as const)
  for (const manageCrds of [false, true])
    describe(`procedure A under the document’s own names with helm ${major}, manageCRDs: ${manageCrds}, on a real control plane`, function () {
      this.timeout(600_000);
      const cluster = shared(async (context) => netsvcCharted(await needsHelm(context, major), SOON), 0);
      const run = () => ['run', '--yes', '--skip', 'cli', ...cluster.flags, ...(manageCrds ? ['--manage-crds'] : [])];

      it('is killed in the middle, run again, and ends at the target with its values', async () => {
        await killedAt(run(), cluster.around, /^\S+ apply: /m);
        assertSucceeded(await cluster.upgrade(...run()));
        const listed = JSON.parse(await cluster.helm('list', '-A', '-o', 'json')) as readonly Record<string, string>[];
        assert.deepEqual(
          listed.map(({ chart, status }) => [chart, status]),
          [[`netsvc-operator-${NETSVC_TARGET}`, 'deployed']],
        );
        const operator = 'deploy -n netsvc-operator netsvc-operator';
        const container = '{.spec.template.spec.containers[0]';
        assert.equal(await cluster.read(operator, `${container}.args}`), `["-manage-crds=${manageCrds}"]`);
        assert.equal(await cluster.read(operator, `${container}.resources.requests.cpu}`), '50m');
        const images = (await cluster.read('daemonsets,deployments -n netsvc-system', IMAGES)).split(' ');
        assert.deepEqual([...new Set(images.map((image) => image.split(':').at(-1)))], [NETSVC_TARGET]);
      });

      it('a second run writes nothing', async () => {
        await assertWritesNothing(cluster, () => cluster.upgrade(...run()));
      });
    });
