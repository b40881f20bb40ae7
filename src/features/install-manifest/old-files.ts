import type { KubeObject } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
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

/** The old manifest as it can be applied now. CRDs never go back: the new ones have every version of the old. */
export function goingBack<File extends Pick<TargetFile, 'manifest'>>(file: File): File {
  const kept = file.manifest.documents.filter(({ object }) => object.kind !== 'CustomResourceDefinition').map(served);
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
