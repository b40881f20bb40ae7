import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from './connection.ts';
import type { Selection } from './select.ts';

/** Where a pod finds its service account. */
export const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The connection of a pod to its own cluster; undefined outside of one. */
export async function inClusterSelection(env: Environment, folder: string): Promise<Selection | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const token = join(folder, 'token');
  if (!host || !port || !(await exists(token))) return undefined;
  const authority = join(folder, 'ca.crt');
  const namespace = await readFile(join(folder, 'namespace'), 'utf8').catch(() => '');
  return {
    contextName: '',
    context: namespace.trim() ? { namespace: namespace.trim() } : {},
    clusterName: 'in-cluster',
    cluster: {
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      ...((await exists(authority)) ? { 'certificate-authority': authority } : {}),
    },
    userName: 'service-account',
    user: { tokenFile: token },
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
