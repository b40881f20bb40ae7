import { Transport } from './kube/transport.ts';
import type { ConnectionFlags, Environment } from './kubeconfig/connection.ts';
import { readConnection } from './kubeconfig/kubeconfig.ts';
import { kubeconfigFiles, viewKubeconfig } from './kubeconfig/view.ts';

/** Milliseconds, credential plugin included: the user waits for the shell, and a later answer is of no use. */
const BUDGET_MS = 300;
/** For slow ways to the API server: another budget. */
const BUDGET_VARIABLE = 'NETSVC_UPGRADE_COMPLETION_MS';
/** More than the user would look through. */
const LIMIT = 1000;
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** Names in the kubeconfig that kubectl would use. Throws Fault if it cannot be read. */
export async function kubeconfigNames(
  list: 'contexts' | 'clusters' | 'users',
  flags: ConnectionFlags,
  env: Environment,
): Promise<readonly string[]> {
  const document = await viewKubeconfig(kubeconfigFiles(flags, env), flags, env, 'kubectl');
  return (document[list] ?? []).map(({ name }) => name);
}

/** Names of nodes or namespaces, asked of the API server once. Throws whatever went wrong, and an Error when the time is up. */
export async function objectNames(
  plural: 'nodes' | 'namespaces',
  flags: ConnectionFlags,
  env: Environment,
  version: string,
): Promise<readonly string[]> {
  const connection = await readConnection(flags, env);
  const transport = new Transport(connection, { version, sleep: () => Promise.reject(new Error('a second try would be too late')) });
  const limit = AbortSignal.timeout(budgetOf(env));
  const late = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(new Error('the time is up')));
  });
  const path = `/api/v1/${plural}?limit=${LIMIT}`;
  const asked = transport.json<{ readonly items: readonly { readonly metadata: { readonly name: string } }[] }>({
    path,
    accept: METADATA,
    signal: limit,
  });
  try {
    return (await Promise.race([asked, late])).items.map(({ metadata }) => metadata.name);
  } finally {
    asked.catch(() => undefined);
    late.catch(() => undefined);
    await transport.close();
  }
}

function budgetOf(env: Environment): number {
  const wanted = env[BUDGET_VARIABLE] ?? '';
  return /^\d{1,5}$/.test(wanted) ? Number(wanted) : BUDGET_MS;
}
