import { systemClock } from '../src/adapters/clock.ts';
import { openCluster } from '../src/adapters/kube/cluster.ts';
import { readConnection } from '../src/adapters/kubeconfig/kubeconfig.ts';
import { patchAll } from '../src/engine/patch-all.ts';
import { addLabels } from '../src/features/hosts/stage.ts';
import { K } from '../src/kernel/kinds.ts';

/** Puts the label that is named on every node of the cluster of KUBECONFIG, by the very patches and the very effect of `hep`. */
const cluster = openCluster(await readConnection({}, process.env), { version: '0', warn: () => undefined, terminal: false });
const nodes = await cluster.list(K.Node);
const patches = nodes.map((node) => addLabels(node, { [process.argv[2] ?? 'bench/role']: 'edge' }));
const outcome = await patchAll(
  { cluster, clock: systemClock() },
  { patches, what: 'nodes' },
  { limits: {}, mustHold: () => undefined, stop: new AbortController().signal, report: () => undefined },
);
process.stdout.write(`${outcome}\n`);
await cluster.close();
