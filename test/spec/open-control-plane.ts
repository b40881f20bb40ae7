import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/adapters/clock.ts';
import { openCluster } from '../../src/adapters/kube/cluster.ts';
import { objectPath } from '../../src/adapters/kube/items.ts';
import { readConnection } from '../../src/adapters/kubeconfig/kubeconfig.ts';
import { openTools } from '../../src/adapters/tools/tools.ts';
import { serverSideApply } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import { manifestText } from '../../src/manifest/manifest.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { sha256 } from '../support/empty-sources.ts';
import { assertSucceeded } from '../support/upgrade-process.ts';
import type { SpecCluster } from './spec-cluster.ts';

/** A real control plane of its own, for the specification; `close` ends it. */
export async function openControlPlane(): Promise<SpecCluster> {
  const plane = await startControlPlane({ maxMinutes: 10 });
  const cluster = openCluster(await readConnection({ kubeconfig: plane.kubeconfigPath }, process.env), { version: 'test' });
  const programs = { kubectl: plane.programs.kubectl, helm: 'helm', netsvcctl: 'netsvcctl' };
  const file = join(plane.dir, 'spec.yaml');
  let sum = '';
  const written = () => sum;
  const tools = openTools({ kubeconfigPath: plane.kubeconfigPath, written, env: process.env, programs, cliEnvironment: [] });
  return {
    cluster,
    clock: systemClock(),
    nodes: await plane.addNodes(3),
    async installClientSide(document) {
      await writeFile(file, manifestText([document]));
      assertSucceeded(await plane.apply(file));
    },
    async serverSideApply(documents, { dryRun = false } = {}) {
      const text = manifestText(documents);
      await writeFile(file, text);
      sum = sha256(text);
      return tools.run(serverSideApply(file, dryRun));
    },
    applyConfigMapAs: (manager, document) => {
      const { name, namespace } = document.metadata;
      const path = `${objectPath(K.ConfigMap, name, namespace)}?fieldManager=${manager}&force=true`;
      return plane.api.send('PATCH', path, document, 'application/apply-patch+yaml');
    },
    mergePatchConfigMapAs: (manager, name, patch) =>
      plane.api.send('PATCH', `${objectPath(K.ConfigMap, name, 'default')}?fieldManager=${manager}`, patch),
    fault: (node, fault) => plane.fault(node, fault),
    async close() {
      await cluster.close();
      await plane.stop();
    },
  };
}
