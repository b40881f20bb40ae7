import assert from 'node:assert/strict';
import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import { sandboxCommand } from '../support/sandbox-command.ts';
import { installedSandbox } from '../support/sandbox-ports.ts';
import { NETSVC_TARGET } from '../support/target.ts';

const stray: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'dns-1', namespace: 'kube-system', labels: { app: 'dns' } },
  spec: { containers: [{ name: 'dns', image: 'registry.example.com/dns:1' }] },
  status: { phase: 'Pending' },
};

describe('a pod of kube-system that is not the service’s and does not run', () => {
  for (const command of ['wait', 'verify'])
    it(`is named by ${command}, as a warning that does not change the exit code`, async () => {
      const scenario = await installedSandbox({ nodes: 2, installed: NETSVC_TARGET });
      scenario.cluster.store.insert(K.Pod, stray);
      const bench = sandboxCommand(scenario);
      assert.equal(await bench.run(command), 0, bench.err());
      assert.match(bench.out() + bench.err(), /NS-312.*kube-system.*neither Running nor Completed.*\n?.*dns-1/);
    });
});
