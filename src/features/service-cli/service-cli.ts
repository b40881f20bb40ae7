import type { Effect } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Datastore } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { cliConfigFor } from '../../kernel/profile.ts';
import { lineOf } from '../../kernel/release.ts';
import { ageOf, attempt, cliConfigField } from '../survey/index.ts';
import { type CliCall, type FoundCli, fileIn, readClis, releaseOf } from './cli-list.ts';
import { configFileOf } from './config.ts';
import { type ProvedStore, proveStore, type StoreDoubt } from './store-proof.ts';

/** Why there is no CLI that may be called; `doubt`: there is one, and the store that it reaches may be another's. */
export interface NoCli {
  readonly missing: string;
  readonly doubt?: StoreDoubt;
}

/** A CLI that may be called. */
export type ServiceCli = CliCall & Partial<ProvedStore>;

/** The CLI of the target release on this machine with the arguments that lead it to this cluster's datastore, or why there is none. */
export async function findServiceCli(sources: Sources, context: Context, datastore: Datastore): Promise<ServiceCli | NoCli> {
  const { profile, goal } = context;
  const { current, ofLine } = await usableClis(sources, context, await readClis(sources.tools, profile));
  if (current !== undefined) return leadCli(sources, context, datastore, current);
  const other = ofLine === undefined ? '' : `: ${ofLine} is of another one of the same line, and every call of it but version is refused`;
  return { missing: `no ${profile.cli.program} of ${goal.release} was found${other}` };
}

/** A CLI of exactly this release, as others get only `version` (cli notes 1.4), else one of the same minor line. */
export async function usableClis(
  { tools, files }: Sources,
  { profile, goal, options }: Context,
  clis: readonly FoundCli[],
): Promise<{ readonly current: string | undefined; readonly ofLine: string | undefined }> {
  const beside = options.binDir === undefined ? undefined : fileIn(options.binDir, profile.cli.program, tools.platform().os);
  const extra = beside !== undefined && (await files.exists(beside)) ? [{ file: beside, release: await releaseOf(tools, beside) }] : [];
  const all = [...clis, ...extra];
  const current = all.find(({ release }) => ageOf(release, goal.release) === 'current')?.file;
  const ofLine = all.find(({ release }) => release !== undefined && lineOf(release) === lineOf(goal.release))?.file;
  return { current, ofLine: current ?? ofLine };
}

/**
 * A CLI that reaches this cluster's datastore and no other. For the API datastore every call gets the private kubeconfig; a key-value store
 * is known only from the user's configuration file, and is proved to be the right one.
 */
export async function leadCli(sources: Sources, context: Context, datastore: Datastore, program: string): Promise<ServiceCli | NoCli> {
  if (datastore === 'api') {
    const isLed = cliConfigFor(context.profile, '') !== undefined;
    return isLed ? { program, args: [] } : { missing: 'the profile does not say how its configuration is written (cli.config)' };
  }
  const { files } = sources;
  const file = configFileOf(context);
  if (!(await files.exists(file))) return { missing: `there is no ${file} with the endpoints of the key-value datastore` };
  const text = await attempt(() => files.readText(file));
  if ('unread' in text) return { missing: text.unread };
  const named = cliConfigField(text.value, 'datastoreType');
  if (named === 'kubernetes') return { missing: `${file} sends it to the datastore ${named}, this cluster uses another` };
  const call = { program, args: [`--config=${file}`] };
  const proof = await proveStore(sources, context, call, file);
  return 'store' in proof ? { ...call, ...proof } : { missing: proof.because, doubt: proof };
}

/** A write by the CLI. In key-value mode the engine sees that the store is still the proved one in the moment of the write. */
export function cliWrite({ program, args, store }: CliCall, words: readonly string[], stdin?: string): Extract<Effect, { type: 'exec' }> {
  const run = { tool: 'netsvcctl', args: [...words, ...args], ...(stdin === undefined ? {} : { stdin }) } as const;
  return { type: 'exec', program, run, ...(store ? { store } : {}) };
}
