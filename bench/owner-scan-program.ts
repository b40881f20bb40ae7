import { openCluster } from '../src/adapters/kube/cluster.ts';
import { readConnection } from '../src/adapters/kubeconfig/kubeconfig.ts';
import { scanOwned } from '../src/features/ownerrefs/survey.ts';
import { calico } from '../src/profiles/calico.ts';

/** The search that preflight and ownerrefs make, as a process of its own: prints how many references of the v3 group it found. */
const cluster = openCluster(await readConnection({}, process.env), { version: 'bench', pageSize: Number(process.env.PAGE_SIZE ?? 500) });
const { objects, unread } = await scanOwned(cluster, calico);
if (unread.length > 0) throw new Error(`not read: ${unread.map(({ kind, because }) => `${kind}: ${because}`).join('; ')}`);
process.stdout.write(
  `${objects.flatMap(({ references }) => references.filter(({ apiVersion }) => apiVersion === `${calico.apiGroup}/v3`)).length}\n`,
);
await cluster.close();
