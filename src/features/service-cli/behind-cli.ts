import { type Context, goingTo } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { cliList, cliNamed } from './cli-list.ts';
import { findServiceCli } from './service-cli.ts';

/** A store that does not answer is not waited for: the CLI would wait for ever (cli notes 1.1). */
const ANSWER_MS = 15_000;
/** Names in one call: Windows takes no longer command lines. */
const NAMES = 200;

/** What only the service's CLI shows of a key-value store. */
export interface BehindCli {
  list(plural: string): Promise<readonly KubeObject[]>;
  /** Those of these names that are there, by the names under which this CLI stores. */
  named(plural: string, names: readonly string[], namespace?: string): Promise<readonly KubeObject[]>;
}

/**
 * The CLI of the first of these releases that is on this machine: one of another release shows names of its own making, and leaves out fields.
 * While agents of two releases run, the store is of either. Throws Fault `failed` if none can be asked.
 */
export async function askBehindCli(sources: Sources, context: Context, releases: readonly string[]): Promise<BehindCli> {
  const found = await Promise.all([...new Set(releases)].map((release) => findServiceCli(sources, goingTo(context, release), 'kvstore')));
  const call = found.find((one) => 'program' in one);
  if (!call) {
    const [missing = ''] = found.flatMap((one) => ('missing' in one ? [one.missing] : []));
    throw new Fault('failed', missing, [
      'put it on PATH, or name its folder with --bin-dir; name its configuration file with --cli-config',
    ]);
  }
  const reading = { ...call, args: ['--allow-version-mismatch', ...call.args] };
  return {
    list: (plural) => cliList(sources, reading, plural, ANSWER_MS),
    async named(plural, names, namespace) {
      const parts = Array.from({ length: Math.ceil(names.length / NAMES) }, (_, index) => names.slice(index * NAMES, (index + 1) * NAMES));
      const lists: (readonly KubeObject[])[] = [];
      for (const part of parts) lists.push(await cliNamed(sources, reading, plural, part, namespace));
      return lists.flat();
    },
  };
}
