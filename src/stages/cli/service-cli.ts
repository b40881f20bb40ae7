import type { CliCall } from '../../core/action.ts';
import type { Context } from '../../core/context.ts';
import type { Datastore } from '../../core/installation.ts';
import type { Sources } from '../../core/ports.ts';
import { lineOf } from '../../core/release.ts';
import { ageOf, datastoreOf } from '../../detect/cli-version.ts';
import { attempt } from '../reading.ts';
import { configFileOf } from './config.ts';
import { type FoundCli, fileIn, readClis, releaseOf } from './release.ts';

/** The CLI of the target release on this machine with the arguments that lead it to this cluster's datastore, or why there is none. */
export async function findServiceCli(
  sources: Sources,
  context: Context,
  datastore: Datastore,
): Promise<CliCall | { readonly missing: string }> {
  const { profile, options } = context;
  const program = await currentCli(sources, context, await readClis(sources.tools, profile));
  if (program === undefined) return { missing: `no ${profile.cli.program} of ${lineOf(options.release) ?? options.release} was found` };
  const config = await cliConfig(sources, context, datastore);
  return 'missing' in config ? config : { program, args: config.file === undefined ? [] : [`--config=${config.file}`] };
}

/** The very release before another of its line; what was installed off PATH counts as well. */
export async function currentCli(
  { tools, files }: Sources,
  { profile, options }: Context,
  clis: readonly FoundCli[],
): Promise<string | undefined> {
  const beside = options.binDir === undefined ? undefined : fileIn(options.binDir, profile.cli.program, tools.platform().os);
  const extra = beside !== undefined && (await files.exists(beside)) ? [{ file: beside, release: await releaseOf(tools, beside) }] : [];
  const all = [...clis, ...extra];
  const same = all.find(({ release }) => ageOf(release, options.release) === 'current');
  return (same ?? all.find(({ release }) => release !== undefined && lineOf(release) === lineOf(options.release)))?.file;
}

/**
 * The CLI's own configuration file, where there is one, is used alone, whatever we set in its environment (cli notes 1.3).
 * Without one it gets the API datastore of this cluster from us; a key-value store it can only know by the file.
 */
export async function cliConfig(
  { files }: Sources,
  context: Context,
  datastore: Datastore,
): Promise<{ readonly file?: string } | { readonly missing: string }> {
  // A person's file on the API datastore means whatever their kubeconfig means at that moment: our calls go to the cluster that was confirmed.
  const file = datastore === 'api' ? context.profile.cli.configFile : configFileOf(context);
  if (!(await files.exists(file))) {
    return datastore === 'api' ? {} : { missing: `there is no ${file} with the endpoints of the key-value datastore` };
  }
  const text = await attempt(() => files.readText(file));
  if ('unread' in text) return { missing: text.unread };
  const named = datastoreOf(text.value);
  if ((named === 'kubernetes') === (datastore === 'api')) return { file };
  return { missing: `${file} sends it to the datastore ${named ?? 'that it does not name'}, this cluster uses another` };
}
