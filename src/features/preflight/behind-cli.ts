import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Detection, Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { cliResources, temporaryPolicies } from '../policies/index.ts';
import { type CliCall, findServiceCli } from '../service-cli/index.ts';
import type { StoredBehindCli } from '../survey/index.ts';

/** Milliseconds that the survey waits for a store: the CLI would wait for ever (cli notes 1.1). */
const ANSWER_MS = 15_000;

/** What only the CLI sees of a key-value store; undefined with any other. Throws Fault `failed` if no CLI can be asked. */
export async function readBehindCli(sources: Sources, context: Context, detection: Detection): Promise<StoredBehindCli | undefined> {
  if (detection.type !== 'found' || detection.installation.datastore !== 'kvstore') return undefined;
  const call = await cliOf(sources, context, detection.installation);
  const objects = cliResources(sources, call, ANSWER_MS);
  const [policies, agentConfigurations] = await Promise.all([objects('globalnetworkpolicies'), objects('felixconfigurations')]);
  return { temporaryPolicies: temporaryPolicies(policies, context.profile), agentConfigurations };
}

/** Of the installed release, as any other is refused (cli notes 1.4); of the target's once the upgrade is done. */
async function cliOf(sources: Sources, context: Context, { release, datastore }: Installation): Promise<CliCall> {
  const releases = [...new Set([...(release === undefined ? [] : [release]), context.options.release])];
  const calls = await Promise.all(
    releases.map((one) => findServiceCli(sources, { ...context, options: { ...context.options, release: one } }, datastore)),
  );
  const usable = calls.find((call) => !('missing' in call));
  if (usable && !('missing' in usable)) return usable;
  const [first] = calls;
  throw new Fault('failed', first && 'missing' in first ? first.missing : 'there is no CLI of the service', [
    `look yourself: ${context.profile.cli.program} get globalnetworkpolicies`,
  ]);
}
