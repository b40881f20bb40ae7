import type { Context } from '../../kernel/context.ts';
import { eachOf } from '../../kernel/each-of.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Sources, UserFiles } from '../../kernel/ports.ts';
import { compareReleases, parseRelease, sameMinor, sameRelease } from '../../kernel/release.ts';
import { type BaseCandidate, type Candidates, releasesIn } from '../../manifest/choose-base.ts';
import { type Manifest, parseManifest } from '../../manifest/manifest.ts';
import { attempt } from '../survey/index.ts';
import { assertIsBase } from './identity.ts';
import { inNamespace, operatorMove } from './operator-namespace.ts';
import { addOnsOf, isLeftOut, readReleaseManifest, variantOf } from './target.ts';

/** Edits cannot be told from the release's own text without that text. */
export class NoBase extends Error {}

/** Files read at a time. */
const WIDTH = 2;

/**
 * The installed release's own manifest first, from `--base`, the program or the artifact source; then all that the program carries.
 * Throws NoBase if none is of the installed minor, and Fault('usage') for a `--base` that is no manifest of the variant.
 */
export async function readBases(sources: Sources, context: Context, installation: Installation): Promise<Candidates> {
  const { first, others, ...told } = await readReleasedBases(sources, context, installation);
  const move = operatorMove(context, installation);
  const placed = (base: BaseCandidate) => ({ ...base, documents: inNamespace(base.documents, move) });
  return { ...told, first: placed(first), others: others.map(placed) };
}

async function readReleasedBases(sources: Sources, context: Context, installation: Installation): Promise<Candidates> {
  const { file, ...variant } = variantOf(context, installation);
  const installed = installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
  const carried = await sources.stored.releasesOf(file);
  const whole = async (release: string, documents: Documents): Promise<BaseCandidate> => ({
    release,
    documents: [...documents, ...(await addOnDocuments(sources, context, installation, release))],
  });
  const stored = async (releases: readonly string[]) => {
    const known = await eachOf(releases, WIDTH, async (release) =>
      storedWhole(sources, [file, ...addOnsOf(context, installation).map((one) => one.file)], release),
    );
    return known.flat();
  };
  const own = context.options.base;
  if (own !== undefined) {
    const { release, documents, name } = await readOwnBase(sources, own, installed, file);
    assertIsBase({ name }, inNamespace(documents, operatorMove(context, installation)), { file, ...variant });
    const addOns = await addOnDocuments(sources, context, installation, parseRelease(release) ? release : (installed ?? release));
    const first = { release, documents: [...documents, ...addOns] };
    const others = [
      ...(await stored(carried.filter((one) => one !== release))),
      ...(await labelledAtSource(sources, installed, release, file)),
    ];
    return { first, others, installed, given: true };
  }
  if (installed === undefined) {
    const [first, ...others] = await stored(carried);
    if (!first) throw noBase('the installed release is not known', file);
    return { first, others, installed };
  }
  const near = nearest([...new Set([...carried, ...((await releasesAtSource(sources, carried, installed)) ?? [])])], installed);
  for (const release of [installed, ...near]) {
    const documents = await documentsOf(sources, release, file);
    if (!documents) continue;
    const first = await whole(release, documents);
    return { first, others: await stored(carried.filter((one) => one !== release)), installed };
  }
  throw noBase(`neither this program nor ${sources.artifacts.source} has ${file} of ${installed}`, file);
}

/** Only of what the program carries; a release that lacks a part of the installation (the API server came with v3.20) does not count. */
async function storedWhole({ stored }: Sources, files: readonly string[], release: string): Promise<readonly BaseCandidate[]> {
  const parts = await Promise.all(files.map((one) => stored.documentsOf(release, one)));
  return parts.every((part) => part !== undefined) ? [{ release, documents: compared(parts.flat()) }] : [];
}

/** A base that the user named is compared with the manifest of the release that the images name, if available. */
async function labelledAtSource(sources: Sources, installed: string | undefined, given: string, file: string) {
  if (installed === undefined || sameRelease(installed, given) || (await sources.stored.documentsOf(installed, file))) return [];
  const read = await attempt(() => documentsOf(sources, installed, file));
  return 'value' in read && read.value ? [{ release: installed, documents: read.value }] : [];
}

/** Where the program has the installed release, no source need be asked which it has. */
async function releasesAtSource({ artifacts }: Sources, carried: readonly string[], installed: string) {
  return carried.some((one) => sameRelease(one, installed)) ? [] : artifacts.releases();
}

/** The manifest of the release that a run kept, as the cluster no longer shows it. Throws NoBase if it is not at hand. */
export async function readBaseOf(sources: Sources, context: Context, installation: Installation, release: string) {
  const { file } = variantOf(context, installation);
  const own = context.options.base;
  const documents =
    own === undefined ? await documentsOf(sources, release, file) : (await readOwnBase(sources, own, release, file)).documents;
  if (!documents) throw noBase(`neither this program nor ${sources.artifacts.source} has ${file} of ${release}`, file);
  const all = [...documents, ...(await addOnDocuments(sources, context, installation, release))];
  return inNamespace(all, operatorMove(context, installation));
}

/** No source is asked for a base without a release's name, such as the path of an earlier `--base`. */
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

/** What the user named with `--base`. */
export interface OwnBase {
  /** The release that its images name; the path where they name none. */
  readonly release: string;
  readonly name: string;
  /** As read; of a release that the program carries, its objects. */
  readonly text: string;
  readonly documents: Documents;
}

/** A release by its name, a file, or the variant's file in a folder. `installed` is the release that a folder is asked for. */
export async function readOwnBase(sources: Sources, own: string, installed: string | undefined, file: string): Promise<OwnBase> {
  if (parseRelease(own) && !(await sources.files.exists(own))) {
    const documents = await documentsOf(sources, own, file);
    if (documents) return { release: own, name: `${file} of ${own}`, text: JSON.stringify(documents), documents };
    throw new Fault('usage', `--base ${own}: neither this program nor ${sources.artifacts.source} has ${file} of that release`, [
      'give the file itself: --base FILE',
    ]);
  }
  const { text, path } = await readOwnFile(sources.files, own, installed, file);
  const documents = objectsOf(parseManifest(text, path));
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

function objectsOf({ documents }: Manifest): readonly KubeObject[] {
  return compared(documents.map(({ object }) => object));
}

/** What the target leaves out is no edit. */
function compared(documents: readonly KubeObject[]): readonly KubeObject[] {
  return documents.filter((document) => !isLeftOut(document));
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

function noBase(fact: string, file: string): NoBase {
  return new NoBase(`${fact}: give the release's own ${file}, unedited, with --base FILE`);
}
