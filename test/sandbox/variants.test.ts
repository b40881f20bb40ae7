import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import { podShape } from '../../src/kube/pod-facts.ts';
import { containersOf } from '../../src/kube/workload.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET, pattern } from '../support/target.ts';

/** In key-value mode the second container of an agent stays unready: READY is 1/2 at the end, as the procedure has it. */
function leaveSecondUnready({ clock, cluster: { store } }: Scenario): void {
  store.listen(({ kind, after }) => {
    if (kind !== K.Pod || !after?.metadata.name.startsWith('netsvc-node-')) return;
    const [first, second] = podShape(after).status?.containerStatuses ?? [];
    if (!first?.ready || !second?.ready) return;
    const status = { ...(after.status as object), containerStatuses: [first, { ...second, ready: false }] };
    // Who listens hears of this change before the next.
    clock.schedule(1, () => store.update(K.Pod, { ...after, status }));
  });
}

describe('every variant of the full-install manifest, by the names of the procedure', () => {
  for (const { file, datastore } of netsvc.variants)
    it(`${file} is upgraded to the same variant, as upgrade.yaml, and is done at its own READY`, async () => {
      const scenario = await installedSandbox({ file, installed: 'v3.26.4', cli: false });
      const isStore = datastore === 'kvstore';
      if (isStore) leaveSecondUnready(scenario);
      const bench = sandboxCommand(scenario);
      const endpoints = isStore ? ['--kvstore-endpoints', 'http://10.0.0.9:2379'] : [];
      assert.equal(await bench.run('apply', '--yes', ...endpoints), 0, bench.err());
      assert.match(bench.err(), /write upgrade\.yaml/);
      assert.match(bench.err(), pattern`netsvc-node node-02 new ${NETSVC_TARGET} ${isStore ? '1/2' : '2/2'}`);
      assert.match(bench.err(), pattern`netsvc-kube-controllers node-0\d new ${NETSVC_TARGET} 1/1`);
      const agents = scenario.cluster.store.get(K.DaemonSet, 'netsvc-node', 'kube-system') ?? assert.fail();
      assert.equal(
        containersOf(agents).some(({ name }) => name === 'overlay'),
        file.includes('overlay'),
      );
      assert.ok(containersOf(agents).every(({ image }) => image?.endsWith(`:${NETSVC_TARGET}`)));
    });
});
