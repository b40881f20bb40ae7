import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import { K } from '../core/kinds.ts';
import { refText } from '../core/object.ts';
import type { Sources } from '../core/ports.ts';
import { imageRelease, isImageOf, sameRelease } from '../detect/images.ts';
import { type FoundCli, readClis } from './cli-release.ts';

export interface LocalCli extends FoundCli {
  readonly writable: boolean;
  readonly owner?: { readonly manager: string; readonly removeWith: string };
}

/** The new CLI, downloaded into the work folder and checked. */
export interface NewCli {
  readonly file: string;
  readonly sha256: string;
  readonly url: string;
}

export interface CliFacts {
  readonly clis: readonly LocalCli[];
  /** Pods of the cluster in which an older CLI runs. */
  readonly pods: readonly { readonly pod: string; readonly namespace: string; readonly name: string; readonly image: string }[];
  readonly fresh: NewCli | { readonly missing: string };
  /** The CLI's own configuration file on this machine: it wins over the environment. */
  readonly configFile: boolean;
  /** Folder to install into, if one is known and writable. */
  readonly binDir?: string;
}

export async function readCliFacts(sources: Sources, context: Context): Promise<CliFacts> {
  const { profile, options } = context;
  const found = await readClis(sources.tools, profile);
  const clis = await Promise.all(found.map((one) => localCli(sources, one)));
  const isNew = (one: FoundCli) => one.release !== undefined && sameRelease(one.release, options.release);
  const [pods, configFile, binDir] = await Promise.all([
    oldPods(sources, context),
    sources.files.exists(profile.cli.configFile),
    chooseFolder(sources, context, clis),
  ]);
  const needed = options.binDir !== undefined || !clis.some(isNew);
  const fresh = needed ? await download(sources, context) : { missing: 'not needed: the new one is installed' };
  return { clis, pods, fresh, configFile, ...(binDir === undefined ? {} : { binDir }) };
}

async function localCli({ tools, files }: Sources, found: FoundCli): Promise<LocalCli> {
  const [owner, writable] = await Promise.all([tools.ownerOf(found.file), files.writable(folderOf(found.file))]);
  return { ...found, writable, ...(owner ? { owner } : {}) };
}

export function folderOf(file: string): string {
  const cut = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'));
  return cut <= 0 ? file.slice(0, 1) : file.slice(0, cut);
}

/** `--bin-dir`, else where a CLI that nobody manages lies already. */
async function chooseFolder({ files }: Sources, { options }: Context, clis: readonly LocalCli[]): Promise<string | undefined> {
  if (options.binDir === undefined) return clis.filter(({ writable, owner }) => writable && !owner).map(({ file }) => folderOf(file))[0];
  if (await files.isFolder(options.binDir)) return options.binDir;
  throw new Fault('usage', `--bin-dir ${options.binDir} is not a folder`, ['make it first, and see that it is on PATH']);
}

interface PodShape {
  readonly spec?: { readonly containers?: readonly { readonly image: string }[] };
}

async function oldPods({ cluster }: Sources, { profile, options }: Context): Promise<CliFacts['pods']> {
  const pods = await cluster.list(K.Pod);
  return pods.flatMap((pod) => {
    const image = (pod as PodShape).spec?.containers?.map((one) => one.image).find((one) => isImageOf(one, profile.cli.images));
    const release = image === undefined ? undefined : imageRelease(image);
    if (image === undefined || (release !== undefined && sameRelease(release, options.release))) return [];
    const { namespace = 'default', name } = pod.metadata;
    return [{ pod: refText({ kind: 'Pod', namespace, name }), namespace, name, image }];
  });
}

/** Downloads beside the other files of the run; the checksum list of the release, where it has one, decides. */
async function download({ artifacts, tools, work }: Sources, { profile, options }: Context): Promise<CliFacts['fresh']> {
  const { os, arch } = tools.platform();
  const fill = (text: string) => text.replaceAll('{release}', options.release).replaceAll('{os}', os).replaceAll('{arch}', arch);
  const path = fill(profile.cli.artifact);
  try {
    if (!(await artifacts.has(options.release, path))) return { missing: `${path} is not in ${artifacts.source}` };
    const artifact = await artifacts.fetch(options.release, path);
    await assertListed({ artifacts, options, path, sha256: artifact.sha256, list: profile.cli.checksums && fill(profile.cli.checksums) });
    const file = await work.write(`${profile.cli.program}-${options.release}`, artifact.bytes);
    return { file, sha256: artifact.sha256, url: artifact.url };
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.code === 'failed' && !(thrown instanceof ChecksumFault)) return { missing: thrown.message };
    throw thrown;
  }
}

/** A wrong checksum is never worked around. */
class ChecksumFault extends Fault {}

interface Listed {
  readonly artifacts: Sources['artifacts'];
  readonly options: Context['options'];
  readonly path: string;
  readonly sha256: string;
  readonly list: string | undefined;
}

async function assertListed({ artifacts, options, path, sha256, list }: Listed): Promise<void> {
  if (list === undefined || !(await artifacts.has(options.release, list))) return;
  const text = new TextDecoder().decode((await artifacts.fetch(options.release, list)).bytes);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const wanted = text
    .split('\n')
    .map((line) => line.trim().split(/\s+\*?/))
    .find(([, file]) => file === name)?.[0];
  if (wanted === undefined || wanted.toLowerCase() === sha256) return;
  throw new ChecksumFault('failed', `${path} has sha256 ${sha256}, ${list} says ${wanted}`, [
    'do not use it; fetch it again, or from another source',
  ]);
}
