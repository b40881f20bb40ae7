import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import type { Installation } from '../core/installation.ts';
import type { KubeObject } from '../core/object.ts';
import type { Sources } from '../core/ports.ts';
import { compareReleases, parseRelease, sameMinor } from '../core/release.ts';
import type { OwnObjects } from '../merge/distance.ts';
import { type Manifest, parseManifest } from '../merge/manifest.ts';
import { closestBase, type FileOfBase } from './closest-base.ts';
import { addOnsOf, readReleaseManifest, variantOf } from './target.ts';
import { assertIsBase } from './target-identity.ts';

/** The manifest of the installed release and variant: what edits are told by. */
export interface Base {
  /** Release of that manifest; the nearest one at hand is not always the installed one. */
  readonly release: string;
  readonly documents: readonly KubeObject[];
}

/** Edits cannot be told from the release's own text without that text. */
export class NoBase extends Error {}

/**
 * From `--base`, else from the artifact source: of the installed minor the release that is nearest to `mine`, what the person
 * applied. Throws NoBase if neither has it, and Fault('usage') for a `--base` that cannot be it.
 */
export async function readBase(sources: Sources, context: Context, installation: Installation, mine: OwnObjects): Promise<Base> {
  const variant = variantOf(context, installation);
  const main = await readFileOfBase(sources, context, installation, { file: variant.file, mine });
  if (context.options.base !== undefined) assertIsBase(main.manifest, variant);
  const documents = main.manifest.documents.map(({ object }) => object);
  for (const addOn of addOnsOf(context, installation)) {
    const manifest = await readReleaseManifest(sources, main.release, addOn.file);
    if (!manifest) throw noBase(`${sources.artifacts.source} has no ${addOn.file} of ${main.release}`, addOn.file);
    documents.push(...manifest.documents.map(({ object }) => object));
  }
  return { release: main.release, documents };
}

interface Wanted {
  readonly file: string;
  readonly mine: OwnObjects;
}

async function readFileOfBase(
  sources: Sources,
  { options }: Context,
  installation: Installation,
  { file, mine }: Wanted,
): Promise<FileOfBase> {
  const release = installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
  if (options.base !== undefined) {
    return { release: release ?? options.base, manifest: await readOwnBase(sources, options.base, release, file) };
  }
  if (release === undefined) throw noBase('the installed release is not known', file);
  const near = nearest(await sources.artifacts.releases(), release);
  for (const one of [release, ...near]) {
    const manifest = await readReleaseManifest(sources, one, file);
    if (manifest)
      return closestBase(
        sources,
        { release: one, manifest },
        [release, ...near].filter((other) => other !== one),
        file,
        mine,
      );
  }
  throw noBase(`${sources.artifacts.source} has no ${file} of ${release}`, file);
}

async function readOwnBase({ files }: Sources, path: string, release: string | undefined, file: string): Promise<Manifest> {
  if (!(await files.isFolder(path))) return parseManifest(await files.readText(path), path);
  const inFolder = [`${path}/${release}/manifests/${file}`, `${path}/manifests/${file}`, `${path}/${file}`];
  for (const candidate of inFolder) {
    if (await files.exists(candidate)) return parseManifest(await files.readText(candidate), candidate);
  }
  throw new Fault('usage', `--base ${path} has no ${file} of ${release ?? 'the installed release'}`, [`looked for ${inFolder.join(', ')}`]);
}

/**
 * Other patch releases of the same minor. Older ones first, nearest first: against a base that is too old, changes of later
 * releases look like edits that the target already has; against one that is too new, they look like edits to undo.
 */
function nearest(releases: readonly string[] | undefined, release: string): readonly string[] {
  const wanted = parseRelease(release);
  if (!wanted) return [];
  const rank = (tag: string) => {
    const other = parseRelease(tag);
    const distance = other ? compareReleases(other, wanted) : 0;
    return distance > 0 ? 1e6 + distance : -distance;
  };
  return (releases ?? []).filter((tag) => tag !== release && sameMinor(tag, release)).toSorted((a, b) => rank(a) - rank(b));
}

function noBase(fact: string, file: string): NoBase {
  return new NoBase(`${fact}: give the release's own ${file}, unedited, with --base FILE|DIR`);
}
