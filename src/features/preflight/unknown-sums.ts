import { command } from '../../kernel/argv.ts';
import type { NotRead, Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Artifacts, Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { pathOf } from '../install/index.ts';
import { cliPath } from '../service-cli/index.ts';
import { templateFiles } from '../sidecars/index.ts';
import { attempt, type TargetFacts } from '../survey/index.ts';

interface Sum {
  readonly file: string;
  readonly sha256: string;
  readonly url: string;
}

/** The same; where sums of the target are not known, it lists those of the files there, and one command with all. No such file is used. */
export async function withSumsToCompare(
  facts: Reading<TargetFacts>,
  sources: Sources,
  context: Context,
  installation: Installation,
): Promise<Reading<TargetFacts>> {
  if ('value' in facts) return facts;
  // Where nothing can be fetched, the reading says so: that is one finding among the others.
  const sums = await attempt(() => unknownSums(sources, context, installation));
  return 'unread' in sums || sums.value.length === 0 ? facts : { ...facts, ...adviceOn(sums.value, context) };
}

/** Of what an upgrade on this path takes from the network. */
async function unknownSums(sources: Sources, context: Context, installation: Installation): Promise<readonly Sum[]> {
  const { artifacts } = sources;
  const { release } = context.goal;
  const manifests = pathOf(installation)
    .files(context, installation)
    .map((file) => `manifests/${file}`);
  // Whoever may not read the mesh is told so by its own check.
  const mesh = await attempt(() => templateFiles(sources, context));
  const templates = 'value' in mesh ? mesh.value : [];
  const paths = [...manifests, ...templates, await cliPath(sources, context)];
  const all = await Promise.all(paths.map((path) => sumToCompare(artifacts, release, path)));
  // The program alone can be had elsewhere: it does not ask for all of this.
  return all.slice(0, manifests.length).every((one) => one === undefined) ? [] : all.filter((one) => one !== undefined);
}

/** Undefined for a file whose sum is known, that is in a folder of the user, or that is not there. */
async function sumToCompare(artifacts: Artifacts, release: string, path: string): Promise<Sum | undefined> {
  const url = artifacts.urlOf(release, path);
  if (!/^https?:/.test(url) || (await artifacts.sumOf(release, path)) !== undefined) return undefined;
  return artifacts.sumSeen(release, path);
}

/** Which target needs none of this. */
const newest = (release: string, { defaultRelease, manifestUrl }: Profile): string =>
  manifestUrl === undefined || release === defaultRelease ? '' : `; the default, ${defaultRelease}, is the newest release whose sums do`;

function adviceOn(sums: readonly Sum[], { goal: { release }, profile }: Context): Pick<NotRead, 'hint' | 'next'> {
  const digests = sums.flatMap(({ file, sha256 }) => ['--artifact-digest', `${file}=${sha256}`]);
  const where = profile.publishedAt?.replaceAll('{release}', release);
  return {
    hint: [
      `No sums of ${release} come with this program${newest(release, profile)}. Fetched now, and not used:`,
      ...sums.map(({ file, sha256, url }) => `  ${file} sha256 ${sha256} from ${url}`),
      `Compare each with what the publisher says${where === undefined ? '' : `: ${where}`}. If all are equal, the next command accepts these files and no others. Keep its flags for plan and run.`,
    ],
    next: command`kubectl netsvc-upgrade preflight --release ${release} ${digests}`,
  };
}
