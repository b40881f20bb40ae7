import type { Invocation, Tool } from '../core/argv.ts';
import type { Environment } from './kube-connection.ts';

/** What pins a program to the chosen cluster. */
export interface Surroundings {
  readonly kubeconfigPath: string;
  readonly env: Environment;
  readonly cliEnvironment: readonly string[];
  readonly requestTimeout?: string;
}

/** kubectl and helm get the cluster by flag as well: no alias or wrapper with a context of its own wins over it. */
export function argumentsFor({ tool, args }: Invocation, { kubeconfigPath, requestTimeout }: Omit<Surroundings, 'env'>): readonly string[] {
  if (tool === 'netsvcctl') return args;
  const timeout = tool === 'kubectl' && requestTimeout !== undefined ? [`--request-timeout=${requestTimeout}`] : [];
  return [`--kubeconfig=${kubeconfigPath}`, ...timeout, ...args];
}

/** The service's CLI takes its datastore from many places; it gets exactly one (cli §1.3). */
export function environmentFor(tool: Tool, { env, cliEnvironment, kubeconfigPath }: Surroundings): Record<string, string> {
  const ownCli = tool === 'netsvcctl';
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !(ownCli && isStray(entry[0], cliEnvironment)),
  );
  return { ...Object.fromEntries(kept), KUBECONFIG: kubeconfigPath, ...(ownCli ? { DATASTORE_TYPE: 'kubernetes' } : {}) };
}

/** Each name also counts with `CALICO_` before it: the CLI prefers that form to the plain one. */
function isStray(name: string, patterns: readonly string[]): boolean {
  const plain = name.replace(/^CALICO_/, '');
  return patterns.some((pattern) => {
    if (!pattern.endsWith('*')) return pattern === name || pattern === plain;
    const start = pattern.slice(0, -1);
    return name.startsWith(start) || plain.startsWith(start);
  });
}
