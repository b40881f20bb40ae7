import type { Context } from '../../core/context.ts';
import { Fault } from '../../core/fault.ts';
import type { Installation } from '../../core/installation.ts';
import type { KubeObject } from '../../core/object.ts';
import type { Sources, UserFiles } from '../../core/ports.ts';
import { compareReleases, parseRelease, sameMinor } from '../../core/release.ts';
import { type Manifest, parseManifest } from '../../merge/manifest.ts';
import type { BaseCandidate } from '../../merge/rank-bases.ts';
import { inNamespace, operatorMove } from '../operator/namespace.ts';
import { attempt, eachOf } from '../reading.ts';
import { assertIsBase } from '../target/identity.ts';
import { addOnsOf, isLeftOut, readReleaseManifest, variantOf } from '../target/target.ts';

/** The manifests that edits may be told by: which of them was installed, a tag of an image does not tell for certain. */
export interface Bases {
  /** The release that the images tell, or the nearest of its minor that is at hand. */
  readonly labelled: BaseCandidate;
  readonly others: readonly BaseCandidate[];
}

/** Edits cannot be told from the release's own text without that text. */
export class NoBase extends Error {}

/** Files read at a time. */
const WIDTH = 2;

/**
 * From `--base`, else those that the program carries and those of the artifact source. Throws NoBase if none is of the installed
 * minor, and Fault('usage') for a `--base` that cannot be it.
 */
export async function readBases(sources: Sources, context: Context, installation: Installation): Promise<Bases> {
  const { labelled, others } = await readReleasedBases(sources, context, installation);
  const move = operatorMove(context, installation);
  const placed = (base: BaseCandidate) => ({ ...base, documents: inNamespace(base.documents, move) });
  return { labelled: placed(labelled), others: others.map(placed) };
}

async function readReleasedBases(sources: Sources, context: Context, installation: Installation): Promise<Bases> {
  const { file, ...variant } = variantOf(context, installation);
  const release = installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
  const own = context.options.base;
  if (own !== undefined) {
    const { text, path } = await readOwnBase(sources.files, own, release, file);
    const manifest = parseManifest(text, path);
    const documents = objectsOf(manifest);
    assertIsBase(manifest, inNamespace(documents, operatorMove(context, installation)), { file, ...variant });
    const addOns = await addOnDocuments(sources, context, installation, release ?? own);
    return { labelled: { release: release ?? own, documents: [...documents, ...addOns] }, others: [] };
  }
  if (release === undefined) throw noBase('the installed release is not known', file);
  const known = [...(await sources.stored.releasesOf(file)), ...((await sources.artifacts.releases()) ?? [])];
  const near = nearest([...new Set(known)], release);
  for (const one of [release, ...near]) {
    const documents = await documentsOf(sources, one, file);
    if (!documents) continue;
    const addOns = await addOnDocuments(sources, context, installation, one);
    const others = await otherBases(
      sources,
      file,
      [...new Set([...near, ...known])].filter((other) => other !== one),
      release,
    );
    const withAddOns = (base: BaseCandidate) => ({ ...base, documents: [...base.documents, ...addOns] });
    return { labelled: withAddOns({ release: one, documents }), others: others.map(withAddOns) };
  }
  throw noBase(`neither this program nor ${sources.artifacts.source} has ${file} of ${release}`, file);
}

/**
 * The manifest that a run told edits by, of the release that it kept: once agents run the target, nothing in the cluster tells it.
 * Throws NoBase if it is not at hand.
 */
export async function readBaseOf(sources: Sources, context: Context, installation: Installation, release: string) {
  const { file } = variantOf(context, installation);
  const own = context.options.base;
  const documents = own === undefined ? await documentsOf(sources, release, file) : await ownDocuments(sources.files, own, release, file);
  if (!documents) throw noBase(`neither this program nor ${sources.artifacts.source} has ${file} of ${release}`, file);
  const all = [...documents, ...(await addOnDocuments(sources, context, installation, release))];
  return inNamespace(all, operatorMove(context, installation));
}

async function ownDocuments(files: UserFiles, own: string, release: string, file: string): Promise<readonly KubeObject[]> {
  const { text, path } = await readOwnBase(files, own, release, file);
  return objectsOf(parseManifest(text, path));
}

/** What the program carries, and of the artifact source those of the installed minor; what cannot be had is passed over. */
async function otherBases(sources: Sources, file: string, releases: readonly string[], installed: string) {
  const found = await eachOf(releases, WIDTH, async (release) => {
    const stored = await sources.stored.documentsOf(release, file);
    if (stored || !sameMinor(release, installed)) return { release, documents: stored && compared(stored) };
    const read = await attempt(() => readReleaseManifest(sources, release, file));
    return { release, documents: 'value' in read && read.value ? objectsOf(read.value) : undefined };
  });
  return found.flatMap(({ release, documents }) => (documents ? [{ release, documents }] : []));
}

/** What is called by no release's name (a run may have kept the path that `--base` had) no source is asked for. */
async function documentsOf(sources: Sources, release: string, file: string): Promise<readonly KubeObject[] | undefined> {
  if (!parseRelease(release)) return undefined;
  const stored = await sources.stored.documentsOf(release, file);
  if (stored) return compared(stored);
  const manifest = await readReleaseManifest(sources, release, file);
  return manifest && objectsOf(manifest);
}

/** What is installed beside the variant has a file of its own in each release. */
async function addOnDocuments(sources: Sources, context: Context, installation: Installation, release: string) {
  const documents: KubeObject[] = [];
  for (const { file } of addOnsOf(context, installation)) {
    const found = await documentsOf(sources, release, file);
    if (!found) throw noBase(`neither this program nor ${sources.artifacts.source} has ${file} of ${release}`, file);
    documents.push(...found);
  }
  return documents;
}

/** The file of `--base`: itself, or the variant's in a folder. */
export async function readOwnBase(files: UserFiles, path: string, release: string | undefined, file: string) {
  if (!(await files.isFolder(path))) return { path, text: await files.readText(path) };
  const inFolder = [`${path}/${release}/manifests/${file}`, `${path}/manifests/${file}`, `${path}/${file}`];
  for (const candidate of inFolder) {
    if (await files.exists(candidate)) return { path: candidate, text: await files.readText(candidate) };
  }
  throw new Fault('usage', `--base ${path} has no ${file} of ${release ?? 'the installed release'}`, [`looked for ${inFolder.join(', ')}`]);
}

function objectsOf({ documents }: Manifest): readonly KubeObject[] {
  return compared(documents.map(({ object }) => object));
}

/** What the target leaves out is no edit. */
function compared(documents: readonly KubeObject[]): readonly KubeObject[] {
  return documents.filter((document) => !isLeftOut(document));
}

/**
 * Other patch releases of the same minor. Older ones first, nearest first: against a base that is too old, changes of later
 * releases look like edits that the target already has; against one that is too new, they look like edits to undo.
 */
function nearest(releases: readonly string[], release: string): readonly string[] {
  const wanted = parseRelease(release);
  if (!wanted) return [];
  const rank = (tag: string) => {
    const other = parseRelease(tag);
    const distance = other ? compareReleases(other, wanted) : 0;
    return distance > 0 ? 1e6 + distance : -distance;
  };
  return releases.filter((tag) => tag !== release && sameMinor(tag, release)).toSorted((a, b) => rank(a) - rank(b));
}

function noBase(fact: string, file: string): NoBase {
  return new NoBase(`${fact}: give the release's own ${file}, unedited, with --base FILE|DIR`);
}
