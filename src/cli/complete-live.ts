import { Transport } from '../adapters/kube/transport.ts';
import type { ConnectionFlags, Environment } from '../adapters/kubeconfig/connection.ts';
import { readConnection } from '../adapters/kubeconfig/kubeconfig.ts';
import { viewKubeconfig } from '../adapters/kubeconfig/view.ts';
import { isVisible } from '../kernel/visible.ts';
import { forPrograms, wordsOf } from './command-line.ts';
import { named, type Question } from './complete.ts';
import type { RunFlags } from './flags.ts';
import type { FastPathTable, FlagEntry } from './plain-flags.ts';

/** Looks the names up with the flags that are typed already, and their environment twins. Throws whatever goes wrong. */
export async function completeLive(question: Question, table: FastPathTable, env: Environment): Promise<string> {
  const flags = flagsIn(question, table, env);
  const { names } = question;
  const found =
    names === 'nodes' || names === 'namespaces'
      ? await objectNames(names, flags, forPrograms(env), table.version)
      : await kubeconfigNames(names, flags, forPrograms(env));
  // A shell puts what is offered on the command line as it is.
  return named(question, found.filter(isVisible));
}

/** The flags of an unfinished command line: what cannot be understood is passed over. */
export function flagsIn({ command, before }: Question, table: Pick<FastPathTable, 'commands'>, env: Environment): RunFlags {
  const entries = table.commands[command]?.flags ?? [];
  const shapes = Object.fromEntries(entries.map((flag) => [flag.name, shapeOf(flag)]));
  const found: Record<string, string | string[] | boolean> = {};
  const words = wordsOf(before, shapes, env);
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, name = '', value] = /^(--?[^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = entries.find((one) => name === `--${one.name}` || (one.char !== undefined && name === `-${one.char}`));
    if (!flag) continue;
    if (!flag.takesValue) found[flag.name] = true;
    else {
      const given = value ?? words.shift() ?? '';
      found[flag.name] = flag.repeatable ? [...((found[flag.name] as string[] | undefined) ?? []), given] : given;
    }
  }
  return found;
}

function shapeOf({ takesValue, char, repeatable }: FlagEntry) {
  return { type: takesValue ? ('option' as const) : ('boolean' as const), ...(char ? { char } : {}), multiple: repeatable ?? false };
}

/** Milliseconds, credential plugin included: the user waits for the shell, and a later answer is of no use. */
const BUDGET_MS = 300;
/** For slow ways to the API server: another budget. */
const BUDGET_VARIABLE = 'NETSVC_UPGRADE_COMPLETION_MS';
/** More than the user would look through. */
const LIMIT = 1000;
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/** Names in the kubeconfig that kubectl would use. Throws Fault if it cannot be read. */
async function kubeconfigNames(
  list: 'contexts' | 'clusters' | 'users',
  flags: ConnectionFlags,
  env: Environment,
): Promise<readonly string[]> {
  const { document } = await viewKubeconfig(flags, env, 'kubectl');
  return (document[list] ?? []).map(({ name }) => name);
}

/** Names of nodes or namespaces, asked of the API server once. Throws whatever went wrong, and an Error when the time is up. */
async function objectNames(
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
