import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Sources } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { type ChartPlace, helmPull, runHelm } from '../install-manifest/index.ts';
import { chartPlace, type FetchedChart, reading } from './source.ts';

/** Fetches a chart into the work folder, once per command: what was evaluated is installed. Local charts stay in place. */
async function fetchChart(sources: Sources, place: ChartPlace): Promise<Reading<FetchedChart>> {
  const { tools, files, work } = sources;
  const { ref, repository, release } = place;
  const from = repository === undefined ? ref : `${repository} ${ref}`;
  if (repository === undefined && !ref.includes('://') && (isPath(ref) || (await files.exists(ref))))
    return reading(() => chartHere(sources, place));
  return reading(async () => {
    await runHelm(tools, helmPull(place, work.path));
    const name = fileOf(place);
    const file = `${work.path}/${name}`;
    if (await files.exists(file)) {
      // Named by its content: no other command can put another chart in its place, and no saved plan means another.
      const bytes = await files.readBytes(file);
      const sha256 = await checkedSum(sources, { release, name, from }, bytes);
      const saved = name.replace(/(\.tgz)?$/, `-${sha256.slice(0, 12)}.tgz`);
      return { place: { ref: await work.write(saved, bytes), release }, from, named: place, sha256 };
    }
    throw new Fault('failed', `the chart that ${from} has for ${release} is not of that very version`, ['give a chart of it with --chart']);
  });
}

/** A packed file of this machine has a sum as well; a folder has none. */
async function chartHere(sources: Sources, place: ChartPlace): Promise<FetchedChart> {
  const { files } = sources;
  const { ref, release } = place;
  if (!(await files.exists(ref)) || (await files.isFolder(ref))) return { place, from: ref, named: place };
  const sha256 = await checkedSum(sources, { release, name: fileOf(place), from: ref }, await files.readBytes(ref));
  return { place, from: ref, named: place, sha256 };
}

interface NamedChart {
  readonly release: string;
  readonly name: string;
  readonly from: string;
}

/** The sum of a chart. Throws Fault('failed') where it has to be another. */
async function checkedSum({ artifacts }: Sources, { release, name, from }: NamedChart, bytes: Uint8Array): Promise<string> {
  const sha256 = await sha256Of(bytes);
  const known = await artifacts.sumOf(release, name);
  if (!known || known.sha256 === sha256) return sha256;
  throw new Fault('failed', `${name} of ${from} has sha256 ${sha256}, but ${known.from} says ${known.sha256}: it is not used`, [
    'fetch it again, or give another chart with --chart or --repo',
  ]);
}

/** The chart of the target. */
export async function fetchedTarget(sources: Sources, context: Context): Promise<Reading<FetchedChart>> {
  const place = chartPlace(context);
  return 'unread' in place ? place : fetchChart(sources, place.value);
}

/** As the chart tool tells a path from a name. */
function isPath(ref: string): boolean {
  return /^[./]|^[A-Za-z]:[\\/]|\\/.test(ref);
}

/** As the chart tool names what it has fetched; of a packed file its own name. */
function fileOf({ ref, release }: ChartPlace): string {
  const last = ref.slice(ref.lastIndexOf('/') + 1).replace(/[?#].*$/, '');
  return /^https?:|\.tgz$/.test(ref) ? last : `${last.replace(/:.*$/, '')}-${release}.tgz`;
}
