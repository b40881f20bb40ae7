import type { Context } from '../core/context.ts';
import type { Edit } from '../core/edit.ts';
import { Fault } from '../core/fault.ts';
import type { Installation } from '../core/installation.ts';
import { type KubeObject, objectKey } from '../core/object.ts';
import { ApiFailure, type ClusterReader, type Sources } from '../core/ports.ts';
import { compareReleases, parseRelease, sameMinor } from '../core/release.ts';
import { isCompared, liveEdits, manifestEdits } from '../merge/edits.ts';
import { type Manifest, parseManifest } from '../merge/manifest.ts';
import type { PreviewedObject } from './preview.ts';
import { eachOf } from './reading.ts';
import { readReleaseManifest, variantOf } from './target.ts';

export interface EditSurvey {
  readonly edits: readonly Edit[];
  /** Release of the manifest that the cluster was compared with. */
  readonly base: string;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Finds what a person changed in the manifest of the installed release, and what the previewed upgrade does to it. */
export async function readEdits(
  sources: Sources,
  context: Context,
  installation: Installation,
  previews: readonly PreviewedObject[],
): Promise<EditSurvey> {
  const base = await readBase(sources, context, installation);
  const documents = new Map(base.manifest.documents.map(({ object }) => [objectKey(object), object]));
  const found = await eachOf(previews, 6, async (preview) => {
    const own = documents.get(objectKey(preview.document));
    return [...(own ? await editsOf(sources.cluster, own, preview) : []), ...liveEdits(preview.planned)];
  });
  return { edits: found.flat(), base: base.release };
}

async function editsOf(cluster: ClusterReader, base: KubeObject, preview: PreviewedObject): Promise<readonly Edit[]> {
  const { live, result, document } = preview;
  if (!live || !result || !isCompared(document)) return [];
  const applied = lastApplied(live);
  if (applied) return manifestEdits({ base, mine: applied, theirs: document, result });
  const defaulted = await asTheServerDefaultsIt(cluster, base);
  return defaulted ? manifestEdits({ base: defaulted, mine: live, theirs: document, result }) : [];
}

/** The file that the person applied, as kubectl noted it on the object. */
function lastApplied(live: KubeObject): KubeObject | undefined {
  const text = live.metadata.annotations?.[LAST_APPLIED];
  try {
    return text === undefined ? undefined : (JSON.parse(text) as KubeObject);
  } catch {
    return undefined; // cut off by hand: then only the live object tells
  }
}

/** Without last-applied, live objects differ from the file by the server's defaults: a dry-run twin gets the same ones. */
async function asTheServerDefaultsIt(cluster: ClusterReader, base: KubeObject): Promise<KubeObject | undefined> {
  const kind = await cluster.resolve(base.apiVersion, base.kind);
  if (!kind) return undefined;
  const twin = { ...base, metadata: { ...base.metadata, name: `${base.metadata.name.slice(0, 40)}-netsvc-upgrade-twin` } };
  try {
    const created = await cluster.dryRunCreate(kind, twin);
    return { ...created, metadata: { ...created.metadata, name: base.metadata.name } };
  } catch (thrown) {
    if (thrown instanceof ApiFailure && thrown.status >= 400 && thrown.status < 500) return base;
    throw thrown;
  }
}

interface Base {
  readonly release: string;
  readonly manifest: Manifest;
}

/** The manifest of the installed release and variant: `--base`, else the artifact source, else its nearest patch release there. */
async function readBase(sources: Sources, context: Context, installation: Installation): Promise<Base> {
  const { file } = variantOf(context, installation);
  const release = installation.release ?? (installation.line === undefined ? undefined : `${installation.line}.0`);
  if (context.options.base !== undefined)
    return { release: release ?? 'given', manifest: await readOwnBase(sources, context.options.base, release, file) };
  if (release === undefined) throw noBase('the installed release is not known', file);
  const exact = await readReleaseManifest(sources, release, file);
  if (exact) return { release, manifest: exact };
  const near = nearest(await sources.artifacts.releases(), release);
  for (const other of near) {
    const manifest = await readReleaseManifest(sources, other, file);
    if (manifest) return { release: other, manifest };
  }
  throw noBase(`${sources.artifacts.source} has no ${file} of ${release}`, file);
}

async function readOwnBase(sources: Sources, path: string, release: string | undefined, file: string): Promise<Manifest> {
  const inFolder = [`${path}/${release}/manifests/${file}`, `${path}/manifests/${file}`, `${path}/${file}`];
  if (!(await sources.files.isFolder(path))) return parseManifest(await sources.files.readText(path), path);
  for (const candidate of inFolder) {
    if (await sources.files.exists(candidate)) return parseManifest(await sources.files.readText(candidate), candidate);
  }
  throw new Fault('usage', `--base ${path} has no ${file} of ${release ?? 'the installed release'}`, [`looked for ${inFolder.join(', ')}`]);
}

/** Other patch releases of the same minor, nearest first: their bodies rarely differ. */
function nearest(releases: readonly string[] | undefined, release: string): readonly string[] {
  const wanted = parseRelease(release);
  if (!wanted) return [];
  const distance = (tag: string) => Math.abs((parseRelease(tag)?.patch ?? 0) - wanted.patch);
  const same = (releases ?? []).filter((tag) => sameMinor(tag, release));
  return [...same].sort((a, b) => distance(a) - distance(b) || byAge(b, a));
}

function byAge(a: string, b: string): number {
  const [left, right] = [parseRelease(a), parseRelease(b)];
  return left && right ? compareReleases(left, right) : 0;
}

/** Edits cannot be told from the release's own text without that text. */
export class NoBase extends Error {}

function noBase(fact: string, file: string): NoBase {
  return new NoBase(`${fact}: give the ${file} that was installed, or that release's own, with --base FILE|DIR`);
}
