import type { Context } from '../../kernel/context.ts';
import type { Datastore } from '../../kernel/installation.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { lineOf } from '../../kernel/release.ts';
import { currentCli, type FoundCli, leadCli, readCliVersion } from '../service-cli/index.ts';
import { attempt } from '../survey/index.ts';
import type { ClusterVersionFacts, VersionAnswer } from './facts.ts';

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
  const file = await currentCli(sources, context, clis, 'line');
  if (file === undefined) return { notAsked: `none of ${lineOf(context.options.release) ?? context.options.release} was found` };
  const call = await leadCli(sources, context, datastore, file);
  if ('missing' in call) return { notAsked: call.missing };
  const { cluster, because } = await readCliVersion(sources.tools, call);
  const by = [file, 'version', ...call.args].join(' ');
  return cluster === undefined ? { by, because: because ?? 'it did not say' } : { by, value: cluster };
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
