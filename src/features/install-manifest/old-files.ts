import type { Context } from '../../kernel/context.ts';
import { K } from '../../kernel/kinds.ts';
import { crdName, type KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import { isOlder } from '../../kernel/release.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { documentsText, type Manifest, type ManifestDocument } from '../../manifest/manifest.ts';
import { writeYaml } from '../../manifest/yaml-rules.ts';
import type { TargetFile } from './identity.ts';

/** Reading and writing takes time, and every stage asks for the same one. */
const known = new WeakMap<KubeObject, TargetFile>();

/** A file of an older release as the program carries it, which needs no network; undefined where it does not. */
export async function storedFile({ stored }: Sources, release: string, file: string): Promise<TargetFile | undefined> {
  const objects = await stored.documentsOf(release, file);
  const [first] = objects ?? [];
  if (objects === undefined || first === undefined) return undefined;
  const before = known.get(first);
  if (before?.file === file && before.url.includes(release)) return before;
  const documents = objects.map((object): ManifestDocument => ({ object, text: writeYaml(object), line: 1 }));
  const text = documentsText(documents);
  const url = `${file} of ${release}, which this program carries`;
  const found = { file, url, sha256: sha256Of(text), text, manifest: { name: `${release}/${file}`, documents } };
  known.set(first, found);
  return found;
}

/** Definitions that agents of the older release ask for (domain §0.8), that the newer one no longer has, and that are not there. */
export async function goneDefinitions(
  { cluster }: Pick<Sources, 'cluster'>,
  { profile, goal: { release } }: Pick<Context, 'profile' | 'goal'>,
): Promise<ReadonlySet<string>> {
  const names = profile.removedKinds.filter(({ since }) => isOlder(release, since)).map(crdName);
  const found = await Promise.all(names.map((name) => cluster.get(K.CustomResourceDefinition, name)));
  return new Set(names.filter((_, index) => found[index] === undefined));
}

/**
 * The old manifest as it can be applied now. CRDs never go back, as the new ones have every version of the old. Those of `gone` are created:
 * the newer release has none of them, so the user may have deleted them.
 */
export function goingBack<File extends Pick<TargetFile, 'manifest'>>(file: File, gone: ReadonlySet<string>): File {
  const isKept = ({ kind, metadata: { name } }: KubeObject) => kind !== 'CustomResourceDefinition' || gone.has(name);
  const kept = file.manifest.documents.filter(({ object }) => isKept(object)).map(served);
  const manifest: Manifest = { ...file.manifest, documents: kept.toSorted((a, b) => Number(starts(a)) - Number(starts(b))) };
  return { ...file, manifest };
}

/** Rights and settings are there before what starts with them. */
const starts = ({ object: { kind } }: ManifestDocument): boolean => kind === 'Deployment' || kind === 'DaemonSet';

/** Versions that Kubernetes has dropped, with the one of the same form that took their place. */
const DROPPED: Readonly<Record<string, string>> = { 'policy/v1beta1 PodDisruptionBudget': 'policy/v1' };

function served(document: ManifestDocument): ManifestDocument {
  const { apiVersion, kind } = document.object;
  const version = DROPPED[`${apiVersion} ${kind}`];
  if (version === undefined) return document;
  const object = { ...document.object, apiVersion: version };
  return { ...document, object, text: writeYaml(object) };
}
