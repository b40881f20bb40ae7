import assert from 'node:assert/strict';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { installManifest } from '../control-plane/install.ts';
import { until } from '../control-plane/until.ts';
import { agentOn, own, serverSideApply } from '../support/installed-agents.ts';
import { NETSVC_TARGET } from '../support/target.ts';

describe('control planes with the netsvc variants', function () {
  this.timeout(180_000);

  const variants: readonly [string, string][] = [
    ['netsvc-policy-only', '2/2'],
    ['netsvc-overlay', '2/2'],
    ['netsvc-kvstore', '1/2'],
    ['netsvc-overlay-kvstore', '1/2'],
  ];
  for (const [variant, readyColumn] of variants) {
    it(`upgrades ${variant} from v3.26.4 to ${NETSVC_TARGET}, its agents ${readyColumn}`, async () => {
      const controlPlane = await startControlPlane({ maxMinutes: 5 });
      try {
        await controlPlane.addNodes(1);
        assert.deepEqual(await installManifest(controlPlane, own('v3.26.4', variant)), []);
        await serverSideApply(controlPlane, own(NETSVC_TARGET, variant));
        await until(`the agent is new and ${readyColumn}`, async () => {
          const agent = await agentOn(controlPlane, 'node-01', 'k8s-app=netsvc-node');
          return agent?.readyColumn === readyColumn && agent.images.every((image) => image.endsWith(`:${NETSVC_TARGET}`));
        });
      } finally {
        await controlPlane.stop();
      }
    });
  }
});
