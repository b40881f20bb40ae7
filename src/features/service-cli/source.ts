import type { Context } from '../../kernel/context.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import type { KnownSum, Sources } from '../../kernel/ports.ts';
import { listedSum } from '../survey/index.ts';

/** The new CLI where it can be fetched from; nothing of it is downloaded before the action that installs it. */
export interface NewCli {
  /** Below the release, or an address of its own. */
  readonly path: string;
  readonly url: string;
  /** What it has to have, where that is known. */
  readonly sum?: KnownSum;
}

export type CliSource = NewCli | { readonly missing: string };

/** Finds the CLI of the target release for this machine. A source without it is no error: the step becomes one for the user. */
export async function findCli(sources: Sources, context: Context): Promise<CliSource> {
  const { artifacts } = sources;
  const { release } = context.options;
  const own = filledIn(context.profile.cli.artifact, sources, context);
  try {
    const path = (await inMirror(sources, context, own)) ?? own;
    if (!(await artifacts.has(release, path))) return { missing: `${path} is not in ${artifacts.source}` };
    const sum = (await artifacts.sumOf(release, path)) ?? (await publishedSum(sources, context, path));
    return { path, url: artifacts.urlOf(release, path), ...(sum ? { sum } : {}) };
  } catch (thrown) {
    if (isAnswer(thrown)) return { missing: thrown.message };
    throw thrown;
  }
}

/** Where a profile has an address of its own for the CLI, a source that the user names may have it all the same: `RELEASE/bin/NAME`. */
async function inMirror({ artifacts }: Sources, { profile, options }: Context, own: string): Promise<string | undefined> {
  if (!own.includes('://') || artifacts.source === profile.manifestUrl) return undefined;
  const path = `bin/${own.slice(own.lastIndexOf('/') + 1)}`;
  return (await artifacts.has(options.release, path)) ? path : undefined;
}

function filledIn(template: string, { tools }: Sources, { options }: Context): string {
  const { os, arch } = tools.platform();
  const path = template.replaceAll('{release}', options.release).replaceAll('{os}', os).replaceAll('{arch}', arch);
  return os === 'windows' && /\{os\}/.test(template) && !/\.\w+$/.test(path) ? `${path}.exe` : path;
}

/** From the list that the profile names; else from what releases usually have beside a program. */
async function publishedSum(sources: Sources, context: Context, path: string): Promise<NewCli['sum']> {
  const { artifacts } = sources;
  const { release } = context.options;
  const { checksums } = context.profile.cli;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const lists = checksums === undefined ? [`${path}.sha256`, `${folder}SHA256SUMS`] : [filledIn(checksums, sources, context)];
  for (const list of lists) {
    if (!(await artifacts.has(release, list))) continue;
    const { bytes, url } = await artifacts.fetch(release, list);
    const sha256 = listedSum(new TextDecoder().decode(bytes), path);
    if (sha256 !== undefined) return { sha256, from: url };
  }
  return undefined;
}
