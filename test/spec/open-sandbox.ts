import { serverSideApply } from '../../src/kernel/argv.ts';
import { K } from '../../src/kernel/kinds.ts';
import { manifestText } from '../../src/manifest/manifest.ts';
import { netsvc } from '../../src/profiles/netsvc.ts';
import { virtualClock } from '../../src/sandbox/clock.ts';
import { sandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import { SandboxFiles } from '../../src/sandbox/sandbox-files.ts';
import { sandboxTools } from '../../src/sandbox/sandbox-tools.ts';
import type { SpecCluster } from './spec-cluster.ts';

/** A small cluster in memory, for the specification. */
export async function openSandbox(): Promise<SpecCluster> {
  const clock = virtualClock();
  const cluster = sandboxCluster({ profile: netsvc, clock, pullMs: 300, readyMs: 300 });
  const files = new SandboxFiles();
  const tools = sandboxTools(cluster, files);
  await cluster.create(K.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
  return {
    cluster,
    clock,
    nodes: cluster.nodes.add(3),
    installClientSide: async (document) => void cluster.installClientSide(document),
    async serverSideApply(documents, { dryRun = false } = {}) {
      files.write('/virtual/file.yaml', manifestText(documents));
      return tools.run(serverSideApply('/virtual/file.yaml', dryRun));
    },
    applyConfigMapAs: async (manager, document) => cluster.registry.apply(K.ConfigMap, document, { manager }),
    mergePatchConfigMapAs: async (manager, name, patch) =>
      cluster.registry.mergePatch(K.ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', name, namespace: 'default' }, patch, { manager }),
    fault: async (node, fault) => cluster.nodes.fault(node, fault),
    close: async () => undefined,
  };
}
