import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources, UserFiles } from '../../kernel/ports.ts';
import type { Variant } from '../../kernel/profile.ts';
import { compareReleases, parseRelease, sameMinor, sameRelease } from '../../kernel/release.ts';
import { type BaseCandidate, type Candidates, releasesIn } from '../../manifest/choose-base.ts';
import { objectsIn, readManifest } from '../../manifest/manifest.ts';
import type { Move } from '../../manifest/move-namespace.ts';
import { attempt } from '../survey/index.ts';
import { assertIsBase } from './identity.ts';
import { inNamespace } from './operator-namespace.ts';
import { isLeftOut, ownFile, readReleaseManifest } from './target.ts';

/** Edits cannot be told from the release's own text without that text. */
export class NoBase extends Error {}

/** Files read at a time. */
const WIDTH = 2;

/** Where the releases' own manifests of an installation are looked for. */
interface Shelf {
  readonly sources: Sources;
  readonly variant: Variant;
  /** Files of what is installed beside the variant; each release has its own. */
  readonly beside: readonly string[];
  readonly move: Move | undefined;
}

export function shelfOf(sources: Sources, context: Context, installation: Installation): Shelf {
  const { variant, addOns, move } = ownFile(context, installation);
  return { sources, variant, beside: addOns.map(({ file }) => file), move };
}

/**
 * The installed release's own manifest first, from `--base`, the program or the artifact source; then all that the program carries.
 * Throws NoBase if none is of the installed minor, and Fault('usage') for a `--base` that is no manifest of the variant.
 */
export async function readBases(sources: Sources, context: Context, installation: Installation): Promise<Candidates> {
  const shelf = shelfOf(sources, context, installation);
  const { file } = shelf.variant;
  const installed = installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
  const carried = await sources.stored.releasesOf(file);
  const stored = async (but?: string) => {
    const others = carried.filter((one) => one !== but);
    return (await eachOf(others, WIDTH, (release) => storedWhole(shelf, release))).flat();
  };
  const own = context.options.base;
  if (own !== undefined) {
    const { release, documents, name } = await readOwn(shelf, own, installed);
    assertIsBase({ name }, documents, shelf.variant);
    const addOns = await addOnDocuments(shelf, parseRelease(release) ? release : (installed ?? release));
    const first = { release, documents: [...documents, ...addOns] };
    return { first, others: [...(await stored(release)), ...(await labelledAtSource(shelf, installed, release))], installed, given: true };
  }
  if (installed === undefined) {
    const [first, ...others] = await stored();
    if (!first) throw new NoBase('the installed release is not known');
    return { first, others, installed };
  }
  // Where the program has the installed release, no source need be asked which it has.
  const atSource = carried.some((one) => sameRelease(one, installed)) ? [] : ((await sources.artifacts.releases()) ?? []);
  const near = nearest([...new Set([...carried, ...atSource])], installed);
  for (const release of [installed, ...near]) {
    const documents = await documentsOf(shelf, release);
    if (!documents) continue;
    const first = { release, documents: [...documents, ...(await addOnDocuments(shelf, release))] };
    return { first, others: await stored(release), installed };
  }
  throw notAtHand(shelf, installed);
}

/** Only of what the program carries; a release that lacks a part of the installation (the API server came with v3.20) does not count. */
async function storedWhole({ sources, variant, beside, move }: Shelf, release: string): Promise<readonly BaseCandidate[]> {
  const parts = await Promise.all([variant.file, ...beside].map((one) => sources.stored.documentsOf(release, one)));
  return parts.every((part) => part !== undefined) ? [{ release, documents: compared(parts.flat(), move) }] : [];
}

/** A base that the user named is compared with the manifest of the release that the images name, if available. */
async function labelledAtSource(shelf: Shelf, installed: string | undefined, given: string): Promise<readonly BaseCandidate[]> {
  const { sources, variant } = shelf;
  if (installed === undefined || sameRelease(installed, given) || (await sources.stored.documentsOf(installed, variant.file))) return [];
  const read = await attempt(() => documentsOf(shelf, installed));
  return 'value' in read && read.value ? [{ release: installed, documents: read.value }] : [];
}

/** The manifest of the release that a run kept, as the cluster no longer shows it. Throws NoBase if it is not at hand. */
export async function readBaseOf(sources: Sources, context: Context, installation: Installation, release: string): Promise<Documents> {
  const shelf = shelfOf(sources, context, installation);
  const own = context.options.base;
  const documents = own === undefined ? await documentsOf(shelf, release) : (await readOwn(shelf, own, release)).documents;
  if (!documents) throw notAtHand(shelf, release);
  return [...documents, ...(await addOnDocuments(shelf, release))];
}

/** No source is asked for a base without a release's name, such as the path of an earlier `--base`. */
async function documentsOf({ sources, variant, move }: Shelf, release: string, file = variant.file): Promise<Documents | undefined> {
  if (!parseRelease(release)) return undefined;
  const stored = await sources.stored.documentsOf(release, file);
  if (stored) return compared(stored, move);
  const manifest = await readReleaseManifest(sources, release, file);
  return manifest && compared(objectsIn(manifest), move);
}

async function addOnDocuments(shelf: Shelf, release: string): Promise<Documents> {
  const documents: KubeObject[] = [];
  for (const file of shelf.beside) {
    const found = await documentsOf(shelf, release, file);
    if (!found) throw notAtHand(shelf, release, file);
    documents.push(...found);
  }
  return documents;
}

/**
 * What the user named with `--base`: a release, a file, or the variant's file in a folder, which is asked for `installed`. The release is the
 * one that the images name, else the path; the text is as read, or the objects that the program carries.
 */
export async function readOwn(shelf: Shelf, own: string, installed: string | undefined) {
  const { sources, variant, move } = shelf;
  const { file } = variant;
  if (parseRelease(own) && !(await sources.files.exists(own))) {
    const documents = await documentsOf(shelf, own);
    if (documents) return { release: own, name: `${file} of ${own}`, text: JSON.stringify(documents), documents };
    throw new Fault('usage', `--base ${own}: neither this program nor ${sources.artifacts.source} has ${file} of that release`, [
      'give the file itself: --base FILE',
    ]);
  }
  const { text, path } = await readOwnFile(sources.files, own, installed, file);
  const documents = compared(objectsIn(await readManifest(text, path)), move);
  const named = documents.flatMap(releasesIn);
  const isInstalled = installed !== undefined && named.some((one) => sameRelease(one, installed));
  return { release: (isInstalled ? installed : named[0]) ?? own, name: path, text, documents };
}

async function readOwnFile(files: UserFiles, path: string, release: string | undefined, file: string) {
  if (!(await files.isFolder(path))) return { path, text: await files.readText(path) };
  const inFolder = [`${path}/${release}/manifests/${file}`, `${path}/manifests/${file}`, `${path}/${file}`];
  for (const candidate of inFolder) {
    if (await files.exists(candidate)) return { path: candidate, text: await files.readText(candidate) };
  }
  throw new Fault('usage', `--base ${path} has no ${file} of ${release ?? 'the installed release'}`, [`looked for ${inFolder.join(', ')}`]);
}

type Documents = readonly KubeObject[];

/** What the target leaves out is no edit, nor is the namespace of the operator. */
function compared(documents: Documents, move: Move | undefined): Documents {
  return inNamespace(documents, move).filter((document) => !isLeftOut(document));
}

/**
 * Other patch releases of the same minor, older ones first, nearest first. Against an old base, changes of later releases look like edits
 * that the target has; against a newer one, like edits to undo.
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

function notAtHand({ sources, variant }: Shelf, release: string, file = variant.file): NoBase {
  return new NoBase(`neither this program nor ${sources.artifacts.source} has ${file} of ${release}`);
}
