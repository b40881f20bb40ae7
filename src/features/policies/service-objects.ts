import { Fault } from '../../kernel/fault.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { cliObjects } from '../../kernel/service-cli.ts';
import { unattributed } from '../../kube/lean-objects.ts';
import type { CliCall } from '../service-cli/index.ts';

const CLI_LIMIT_MS = 60_000;

/** Where the service's resources are read: stored in the API, or behind its CLI in key-value mode. */
export type ServiceObjects = (plural: string) => Promise<readonly KubeObject[]>;

/**
 * Stored resources of the API, all of a kind, or none without that kind. Read from the v1 group, as an older aggregated API server shows
 * labels of newer ones wrongly (host endpoint notes 3).
 */
export function storedObjects({ cluster }: Pick<Sources, 'cluster'>, { crdGroup }: Profile): ServiceObjects {
  const kinds = cluster.discover();
  return async (plural) => {
    const kind = await storedKind(kinds, crdGroup, plural);
    return kind ? cluster.list(kind, { keep: unattributed }) : [];
  };
}

/** The stored kind of a plural, if the cluster has it. Throws Fault('failed') if the group could not be asked. */
export async function storedKind(
  discovery: Promise<{ readonly kinds: readonly Kind[]; readonly failed: readonly string[] }>,
  crdGroup: string,
  plural: string,
): Promise<Kind | undefined> {
  const { kinds, failed } = await discovery;
  const kind = kinds.find((one) => one.group === crdGroup && one.plural === plural);
  if (!kind && failed.includes(crdGroup))
    throw new Fault('failed', `the discovery of ${crdGroup} fails`, ['repair the API behind it: kubectl get apiservices']);
  return kind;
}

/** Kinds of which the CLI shows one namespace only, unless asked for all. */
const NAMESPACED = new Set(['networkpolicies', 'networksets']);

/** What the CLI shows; its answer is evaluated by its exit code, and its warnings on stderr are none (cli notes 1). */
export function cliResources({ tools }: Pick<Sources, 'tools'>, { program, args }: CliCall, timeoutMs = CLI_LIMIT_MS): ServiceObjects {
  return async (plural) => {
    const run = {
      tool: 'netsvcctl',
      args: ['get', plural, '-o', 'json', ...(NAMESPACED.has(plural) ? ['--all-namespaces'] : []), ...args],
    } as const;
    const { exitCode, stdout, stderr, problem } = await tools.run(run, { program, timeoutMs });
    if (exitCode === 0) return cliObjects(stdout);
    throw new Fault('failed', `${program} get ${plural} failed: ${stderr.trim() || problem || `exit code ${exitCode}`}`, [
      `see for yourself: ${program} get ${plural}`,
    ]);
  };
}
