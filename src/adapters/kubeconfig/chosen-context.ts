import { delimiter } from 'node:path';
import type { WorkFolder } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import type { Connection, ConnectionFlags, Environment } from './connection.ts';
import { kubeconfigFiles } from './view.ts';

/**
 * The variable that makes other programs choose the context of this connection: before the user's own files stands one with its name alone.
 * In a pod, which has one cluster, there is none.
 */
export async function chosenContext(
  { contextName, source }: Pick<Connection, 'contextName' | 'source'>,
  flags: ConnectionFlags,
  env: Environment,
  work: Pick<WorkFolder, 'write'>,
): Promise<Environment> {
  if (source === 'in-cluster' || contextName === '') return {};
  const document = { apiVersion: 'v1', kind: 'Config', 'current-context': contextName };
  // Written again for each: a program that changes the current context changes this file.
  const file = await work.write(`context-${sha256Of(contextName).slice(0, 12)}`, `${JSON.stringify(document)}\n`);
  return { KUBECONFIG: [file, ...kubeconfigFiles(flags, env)].join(delimiter) };
}
