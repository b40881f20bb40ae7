import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { cliList, findServiceCli } from '../service-cli/index.ts';

/** A store that does not answer is not waited for. */
const ANSWER_MS = 15_000;

/**
 * What a key-value store holds, as the CLI of the release that is left shows it: an older one makes names of its own. While agents of both
 * releases run, the store is of either. Throws Fault if no such CLI can be asked.
 */
export async function storedBehindCli(
  sources: Sources,
  context: Context,
): Promise<(...plurals: readonly string[]) => Promise<readonly KubeObject[]>> {
  const { goal, profile } = context;
  const release = goal.takesBack?.to ?? goal.release;
  const call = await findServiceCli(sources, { ...context, goal: { release } }, 'kvstore');
  if ('missing' in call) throw new Fault('failed', call.missing, [`look yourself: ${profile.cli.program} get globalnetworkpolicies`]);
  const reading = { ...call, args: ['--allow-version-mismatch', ...call.args] };
  return async (...plurals) => (await Promise.all(plurals.map((plural) => cliList(sources, reading, plural, ANSWER_MS)))).flat();
}
