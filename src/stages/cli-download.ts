import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import type { Artifacts, Sources } from '../core/ports.ts';
import { listedSum } from '../detect/cli-version.ts';

/** The new CLI, downloaded into the work folder and checked. */
export interface NewCli {
  readonly file: string;
  readonly sha256: string;
  readonly url: string;
  /** The release's own list of sums has the same. */
  readonly listed: boolean;
}

export type Download = NewCli | { readonly missing: string };

/** Programs are larger than manifests: the released ones have up to a hundred MB. */
const LIMIT_BYTES = 300 * 1024 * 1024;

/** A stage is surveyed for the plan and again before it acts: each file is fetched once for each source. */
const memory = new WeakMap<Artifacts, Map<string, Promise<Download>>>();

/**
 * The CLI of the target release for this machine. A source without it is no error: the step becomes one for a person.
 * Throws Fault('failed') if the sum is not the listed one: that is never worked around.
 */
export function downloadCli(sources: Sources, context: Context): Promise<Download> {
  const path = filledIn(context.profile.cli.artifact, sources, context);
  const known = memory.get(sources.artifacts) ?? new Map<string, Promise<Download>>();
  memory.set(sources.artifacts, known);
  const download = known.get(path) ?? fetchCli(sources, context, path);
  known.set(path, download);
  download.then(
    (one) => 'missing' in one && known.delete(path),
    () => known.delete(path),
  );
  return download;
}

function filledIn(template: string, { tools }: Sources, { options }: Context): string {
  const { os, arch } = tools.platform();
  const path = template.replaceAll('{release}', options.release).replaceAll('{os}', os).replaceAll('{arch}', arch);
  return os === 'windows' && /\{os\}/.test(template) && !/\.\w+$/.test(path) ? `${path}.exe` : path;
}

async function fetchCli(sources: Sources, context: Context, path: string): Promise<Download> {
  const { artifacts, work } = sources;
  const { options, profile } = context;
  try {
    if (!(await artifacts.has(options.release, path))) return { missing: `${path} is not in ${artifacts.source}` };
    const { bytes, sha256, url } = await artifacts.fetch(options.release, path, LIMIT_BYTES);
    const listed = await isListed(sources, context, path, sha256);
    return { file: await work.write(`${profile.cli.program}-${options.release}`, bytes), sha256, url, listed };
  } catch (thrown) {
    if (thrown instanceof Fault && !(thrown instanceof WrongSum)) return { missing: thrown.message };
    throw thrown;
  }
}

class WrongSum extends Fault {}

/** False if the release has no list, or a list without this file. */
async function isListed(sources: Sources, context: Context, path: string, sha256: string): Promise<boolean> {
  const { artifacts } = sources;
  const { options, profile } = context;
  const list = profile.cli.checksums === undefined ? undefined : filledIn(profile.cli.checksums, sources, context);
  if (list === undefined || !(await artifacts.has(options.release, list))) return false;
  const wanted = listedSum(new TextDecoder().decode((await artifacts.fetch(options.release, list)).bytes), path);
  if (wanted !== undefined && wanted !== sha256) {
    throw new WrongSum('failed', `${path} has sha256 ${sha256}, ${list} says ${wanted}`, [
      'do not use it; fetch it again, or from another source',
    ]);
  }
  return wanted !== undefined;
}
