import type { ClusterVersionFacts, VersionAnswer } from '../checks/verify-facts.ts';
import type { Context } from '../core/context.ts';
import type { Datastore } from '../core/installation.ts';
import type { ClusterReader, Sources } from '../core/ports.ts';
import { lineOf } from '../core/release.ts';
import { ageOf, datastoreOf } from '../detect/cli-version.ts';
import { type FoundCli, readCliVersion, releaseOf } from './cli-release.ts';
import { attempt } from './reading.ts';

/** What the new CLI says, and what the cluster's own record says (§4.4/5, §4.5/5). */
export async function readClusterVersion(
  sources: Sources,
  context: Context,
  clis: readonly FoundCli[],
  datastore: Datastore,
): Promise<ClusterVersionFacts> {
  const [cli, record] = await Promise.all([askCli(sources, context, clis, datastore), attempt(() => readRecord(sources.cluster, context))]);
  return { cli, record };
}

async function askCli(
  sources: Sources,
  context: Context,
  clis: readonly FoundCli[],
  datastore: Datastore,
): Promise<ClusterVersionFacts['cli']> {
  const file = await newCli(sources, context, clis);
  if (file === undefined) return { notAsked: `none of ${lineOf(context.options.release) ?? context.options.release} was found` };
  const config = await configFor(sources, context, datastore);
  if ('notAsked' in config) return config;
  const { cluster, because } = await readCliVersion(sources.tools, file, config.file);
  const by = `${file} version${config.file === undefined ? '' : `, configured by ${config.file}`}`;
  return cluster === undefined ? { by, because: because ?? 'it did not say' } : { by, value: cluster };
}

/** The very release before another of its line; what was installed off PATH counts as well. */
async function newCli({ tools, files }: Sources, { profile, options }: Context, clis: readonly FoundCli[]): Promise<string | undefined> {
  const beside = options.binDir === undefined ? undefined : `${options.binDir}/${profile.cli.program}`;
  const extra = beside !== undefined && (await files.exists(beside)) ? [{ file: beside, release: await releaseOf(tools, beside) }] : [];
  const all = [...clis, ...extra];
  const same = all.find(({ release }) => ageOf(release, options.release) === 'current');
  return (same ?? all.find(({ release }) => release !== undefined && lineOf(release) === lineOf(options.release)))?.file;
}

/**
 * The CLI's own configuration file, where there is one, is used alone, whatever we set in its environment (cli notes 1.3).
 * Without one it gets the API datastore of this cluster from us; a key-value store it can only know by the file.
 */
async function configFor(
  { files }: Sources,
  { profile }: Context,
  datastore: Datastore,
): Promise<{ readonly file?: string } | { readonly notAsked: string }> {
  const { configFile: file } = profile.cli;
  if (!(await files.exists(file))) {
    return datastore === 'api' ? {} : { notAsked: `there is no ${file} with the endpoints of the key-value datastore` };
  }
  const text = await attempt(() => files.readText(file));
  if ('unread' in text) return { notAsked: text.unread };
  const named = datastoreOf(text.value);
  if ((named === 'kubernetes') === (datastore === 'api')) return { file };
  return { notAsked: `${file} sends it to the datastore ${named ?? 'that it does not name'}, this cluster uses another` };
}

/** From the stored v1 group; with native v3 CRDs it is in the v3 group instead. */
async function readRecord(cluster: ClusterReader, { profile }: Context): Promise<VersionAnswer> {
  const { kind, plural, name, versionField } = profile.clusterInformation;
  const of = (group: string, version: string) => cluster.get({ group, version, kind, plural, namespaced: false }, name);
  const found = (await of(profile.crdGroup, 'v1')) ?? (await of(profile.apiGroup, 'v3'));
  const by = `${kind}/${name}`;
  const value = (found?.spec as Readonly<Record<string, unknown>> | undefined)?.[versionField];
  if (typeof value === 'string' && value !== '') return { by, value };
  return { by, because: found ? `it has no ${versionField}` : 'there is none in the API' };
}
