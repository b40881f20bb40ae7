import type { Invocation, Tool } from '../../core/argv.ts';
import type { Environment } from '../kubeconfig/connection.ts';

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

/** Given by us alone. */
const PINNED: readonly string[] = ['KUBECONFIG'];

/** Would send the chart tool to another cluster, user, namespace or place of its releases than the one that was found. */
const HELM_STRAYS: readonly string[] = ['HELM_KUBE*', 'HELM_NAMESPACE', 'HELM_DRIVER'];

/**
 * The service's CLI takes its datastore from many places; it gets exactly one (cli §1.3).
 * On Windows a variable's name is the same in any case, so those of another case go as well.
 */
export function environmentFor(
  tool: Tool,
  { env, cliEnvironment, kubeconfigPath }: Surroundings,
  platform: string = process.platform,
): Record<string, string> {
  const named = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  const ownCli = tool === 'netsvcctl';
  const strays = ownCli ? cliEnvironment : tool === 'helm' ? HELM_STRAYS : [];
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !PINNED.includes(named(entry[0])) && !isStray(named(entry[0]), strays),
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
