import type { Invocation, Tool } from '../../kernel/argv.ts';
import type { Environment } from '../kubeconfig/connection.ts';

/** What pins a program to the chosen cluster. */
export interface Surroundings {
  readonly kubeconfigPath: string;
  /** The configuration of the service's CLI that leads to the chosen cluster; absent where the profile does not say how it is written. */
  readonly cliConfigPath?: string;
  readonly env: Environment;
  readonly cliEnvironment: readonly string[];
  readonly requestTimeout?: string;
}

/** kubectl and helm get the cluster by flag as well: no alias or wrapper with a context of its own wins over it. */
export function argumentsFor(
  { tool, args }: Invocation,
  { kubeconfigPath, cliConfigPath, requestTimeout }: Omit<Surroundings, 'env'>,
): readonly string[] {
  if (tool === 'netsvcctl') return withConfig(args, cliConfigPath);
  const timeout = tool === 'kubectl' && requestTimeout !== undefined ? [`--request-timeout=${requestTimeout}`] : [];
  return [`--kubeconfig=${kubeconfigPath}`, ...timeout, ...args];
}

/** Without a named configuration file the CLI uses one from a usual place, despite its environment (cli notes 1.3). */
function withConfig(args: readonly string[], cliConfigPath: string | undefined): readonly string[] {
  const isNamed = args.some((argument) => argument.startsWith('--config='));
  return isNamed || cliConfigPath === undefined ? args : [...args, `--config=${cliConfigPath}`];
}

/** Given by us alone. */
const PINNED: readonly string[] = ['KUBECONFIG', 'KUBERC'];

/** Variables that would send the chart tool to another cluster, user, namespace or release store than the detected one. */
const HELM_STRAYS: readonly string[] = ['HELM_KUBE*', 'HELM_NAMESPACE', 'HELM_DRIVER'];

/** The user's own defaults for kubectl may name another server by a flag that nobody wrote (`defaults` of a kuberc file). */
const KUBECTL_ALONE = { KUBERC: 'off' } as const;

/** Gives the service's CLI exactly one of its many datastore settings (cli notes §1.3). On Windows names ignore case. */
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
  const given: Readonly<Record<string, string>> = ownCli ? { DATASTORE_TYPE: 'kubernetes' } : tool === 'kubectl' ? KUBECTL_ALONE : {};
  return { ...Object.fromEntries(kept), KUBECONFIG: kubeconfigPath, ...given };
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
