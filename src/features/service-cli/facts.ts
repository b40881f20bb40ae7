import type { FileOwner } from '../../kernel/argv.ts';
import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { allOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Datastore } from '../../kernel/installation.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import { K } from '../../kernel/kinds.ts';
import { refText } from '../../kernel/object.ts';
import type { ClusterReader, KnownSum, Sources, UserFiles } from '../../kernel/ports.ts';
import { imageRelease } from '../../kernel/release.ts';
import { slimPod } from '../../kube/lean-objects.ts';
import { hasEnded, podShape } from '../../kube/pod-facts.ts';
import { ageOf, attempt, type CliAge, cliConfigField, isImageOf, listedSum, readInstalled } from '../survey/index.ts';
import { type FoundCli, readClis } from './cli-list.ts';
import { configFileOf, fileNameOf, folderOf, installedEndpoints, type WantedConfig, wantedConfig } from './config.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Where the new CLI is installed. */
    readonly binDir?: string;
  }
}

export interface LocalCli extends FoundCli {
  readonly age: CliAge;
  /** Its folder may be written. */
  readonly writable: boolean;
  readonly owner?: FileOwner;
}

export interface CliPod {
  readonly pod: string;
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
}

export interface CliFacts {
  readonly clis: readonly LocalCli[];
  /** Pods of the cluster in which an older CLI runs, or one of unknown age. */
  readonly pods: Reading<readonly CliPod[]>;
  readonly fresh: CliSource;
  readonly datastore: Datastore;
  /** Of the cluster; absent where it is not clear. */
  readonly installed?: string;
  /** The CLI's own configuration file on this machine wins over the environment; the datastore that it names. */
  readonly config?: { readonly file: string; readonly datastore?: string };
  /** Of the key-value store, where no file names it. */
  readonly endpoints?: string;
  /** What `--cli-config` is to write. */
  readonly wanted?: WantedConfig;
  /** Folder to install into, if one is known and writable. */
  readonly binDir?: string;
  /** Of this machine: `linux`, `windows`. */
  readonly os: string;
}

export async function readCliFacts(sources: Sources, context: Context): Promise<CliFacts> {
  const { tools, cluster } = sources;
  const { profile, goal, options } = context;
  const clis = await Promise.all((await readClis(tools, profile)).map((one) => localCli(sources, one, goal.release)));
  // An old kubectl plugin is replaced in its place, whatever lies beside it.
  const replaced = clis.some((one) => mayBeReplaced(one) && isPlugin(one, profile.cli.kubectlPlugin));
  const needed = replaced || options.binDir !== undefined || !clis.some(({ age }) => age === 'current');
  const { place, ...found } = await allOf({
    pods: attempt(() => oldPods(cluster, context)),
    config: readConfig(sources, configFileOf(context)),
    binDir: chooseFolder(sources, context, clis),
    place: readDatastore(sources, context),
    fresh: needed ? findCli(sources, context) : { missing: 'the new one is installed' },
  });
  const wanted = await wantedConfig(sources, context, place.datastore);
  const isNamed = place.datastore === 'api' || found.config !== undefined || wanted !== undefined;
  const endpoints = isNamed ? undefined : await installedEndpoints(cluster, profile);
  return { ...found, ...place, clis, wanted, endpoints, os: tools.platform().os };
}

async function localCli({ tools, files }: Sources, found: FoundCli, target: string): Promise<LocalCli> {
  const [owner, writable] = await Promise.all([tools.ownerOf(found.file), files.writable(folderOf(found.file))]);
  return { ...found, age: ageOf(found.release, target), writable, ...(owner ? { owner } : {}) };
}

/** `--bin-dir`, else the folder of an older CLI that nobody manages, which is on PATH. */
async function chooseFolder({ files }: Sources, { options }: Context, clis: readonly LocalCli[]): Promise<string | undefined> {
  const { binDir } = options;
  if (binDir === undefined) return clis.filter(mayBeReplaced).map(({ file }) => folderOf(file))[0];
  await refuseNoFolder(files, binDir);
  return (await asOnPath(files, binDir, clis)) ?? (binDir.length > 1 ? binDir.replace(/[/\\]+$/, '') : binDir);
}

/** Throws Fault('usage'). */
export async function refuseNoFolder(files: Pick<UserFiles, 'isFolder'>, binDir: string): Promise<void> {
  if (await files.isFolder(binDir)) return;
  throw new Fault('usage', `--bin-dir ${binDir} is not a folder`, ['make it first, and see that it is on PATH']);
}

/** The folder by the name under which a CLI was found in it: under another, its own file would be replaced and then removed. */
async function asOnPath(files: UserFiles, folder: string, clis: readonly LocalCli[]): Promise<string | undefined> {
  const real = await files.realPath(folder);
  for (const { file } of clis) if ((await files.realPath(folderOf(file))) === real) return folderOf(file);
  return undefined;
}

/** Found by the name of a kubectl plugin. */
export function isPlugin({ file }: FoundCli, plugin: string): boolean {
  return fileNameOf(file).replace(/\.exe$/i, '') === plugin;
}

/** An older CLI of known release that is writable and belongs to no package; for all others it is a manual step. */
export function mayBeReplaced({ age, writable, owner }: LocalCli): boolean {
  return age === 'older' && writable && owner === undefined;
}

async function readConfig({ files }: Sources, file: string): Promise<CliFacts['config']> {
  if (!(await files.exists(file))) return undefined;
  const text = await attempt(() => files.readText(file));
  const datastore = 'value' in text ? cliConfigField(text.value, 'datastoreType') : undefined;
  return { file, ...(datastore === undefined ? {} : { datastore }) };
}

/** Only for the words of the instructions: an unclear installation counts as one on the API datastore. */
async function readDatastore(sources: Sources, context: Context): Promise<Pick<CliFacts, 'datastore' | 'installed'>> {
  const found = await attempt(() => readInstalled(sources, context));
  if ('unread' in found) return { datastore: 'api' };
  const { datastore, release } = found.value;
  return { datastore, ...(release === undefined ? {} : { installed: release }) };
}

async function oldPods(cluster: ClusterReader, { profile, goal }: Context): Promise<readonly CliPod[]> {
  const pods = await cluster.list(K.Pod, { keep: slimPod });
  return pods.flatMap((pod) => {
    if (hasEnded(pod)) return [];
    const cli = podShape(pod).spec?.containers?.find((one) => isImageOf(one.image, profile.cli.images));
    const age = cli && ageOf(imageRelease(cli.image), goal.release);
    if (cli === undefined || age === 'current' || age === 'newer') return [];
    const { namespace = 'default', name } = pod.metadata;
    return [{ pod: refText({ kind: 'Pod', namespace, name }), namespace, name, image: cli.image }];
  });
}

/** The new CLI where it can be fetched from; nothing of it is downloaded before the action that installs it. */
export interface NewCli {
  /** Below the release, or an address of its own. */
  readonly path: string;
  readonly url: string;
  /** What it has to have, where that is known. */
  readonly sum?: KnownSum;
}

type CliSource = NewCli | { readonly missing: string };

/** Finds the CLI of the target release for this machine. A source without it is no error: the step becomes one for the user. */
async function findCli(sources: Sources, context: Context): Promise<CliSource> {
  const { artifacts } = sources;
  const { release } = context.goal;
  try {
    const path = await cliPath(sources, context);
    if (!(await artifacts.has(release, path))) return { missing: `${path} is not in ${artifacts.source}` };
    const sum = (await artifacts.sumOf(release, path)) ?? (await publishedSum(sources, context, path));
    return { path, url: artifacts.urlOf(release, path), ...(sum ? { sum } : {}) };
  } catch (thrown) {
    if (isAnswer(thrown)) return { missing: thrown.message };
    throw thrown;
  }
}

/** Where the CLI of the target for this machine is fetched from. */
export async function cliPath(sources: Sources, context: Context): Promise<string> {
  const own = filledIn(context.profile.cli.artifact, sources, context);
  return (await inMirror(sources, context, own)) ?? own;
}

/** Where a profile has an address of its own for the CLI, a source that the user names may have it all the same: `RELEASE/bin/NAME`. */
async function inMirror({ artifacts }: Sources, { profile, goal }: Context, own: string): Promise<string | undefined> {
  if (!own.includes('://') || artifacts.source === profile.manifestUrl) return undefined;
  const path = `bin/${own.slice(own.lastIndexOf('/') + 1)}`;
  return (await artifacts.has(goal.release, path)) ? path : undefined;
}

function filledIn(template: string, { tools }: Sources, { goal }: Context): string {
  const { os, arch } = tools.platform();
  const path = template.replaceAll('{release}', goal.release).replaceAll('{os}', os).replaceAll('{arch}', arch);
  return os === 'windows' && /\{os\}/.test(template) && !/\.\w+$/.test(path) ? `${path}.exe` : path;
}

/** From what releases usually have beside a program. */
async function publishedSum({ artifacts }: Sources, { goal: { release } }: Context, path: string): Promise<NewCli['sum']> {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  for (const list of [`${path}.sha256`, `${folder}SHA256SUMS`]) {
    if (!(await artifacts.has(release, list))) continue;
    const { bytes, url } = await artifacts.fetch(release, list);
    const sha256 = listedSum(new TextDecoder().decode(bytes), path);
    if (sha256 !== undefined) return { sha256, from: url };
  }
  return undefined;
}
