import type { AccessAnswer, TargetFacts } from '../checks/facts.ts';
import type { Reading } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import type { Detection } from '../core/installation.ts';
import type { PlannedObject } from '../core/plan.ts';
import type { ClusterReader, Sources } from '../core/ports.ts';
import type { Manifest } from '../merge/manifest.ts';
import { readCrdManifest } from './crd-manifest.ts';
import { type DocumentKind, permissionsOf } from './permissions.ts';
import { previewManifest } from './preview.ts';
import { attempt, attemptWith, eachOf } from './reading.ts';
import { readTarget, type Target } from './target.ts';

/** The target as the preflight looks at it: all files that will be applied. */
export interface WholeTarget extends Pick<Target, 'release' | 'url' | 'manifest'> {
  readonly addOns: readonly { readonly manifest: Manifest }[];
}

/** The target for what is installed, the CRDs of the operator path included; without an installation there is none. */
export async function readTargetFor(sources: Sources, context: Context, detection: Reading<Detection>): Promise<Reading<WholeTarget>> {
  if ('unread' in detection) return detection;
  if (detection.value.type !== 'found') return { unread: 'no installation was recognised, so its target is not known' };
  const { installation } = detection.value;
  return attempt(async () => {
    const target = await readTarget(sources, context, installation);
    return installation.path === 'operator' ? { ...target, addOns: [await readCrdManifest(sources, context)] } : target;
  });
}

/** The documents of the target and of its add-ons, as the checks see them. */
export function targetFacts({ release, url, manifest, addOns }: WholeTarget): TargetFacts {
  const documents = [manifest, ...addOns.map((addOn) => addOn.manifest)].flatMap((one) => one.documents.map(({ object }) => object));
  return { release, url, documents };
}

/** Dry run of every document of the target, with the words of the server where it refuses one. */
export async function readPreview(cluster: ClusterReader, target: Reading<WholeTarget>): Promise<Reading<readonly PlannedObject[]>> {
  return attemptWith(target, async ({ manifest, addOns }) => {
    const manifests = [manifest, ...addOns.map((addOn) => addOn.manifest)];
    const parts = await eachOf(manifests, 1, (one) => previewManifest(cluster, one));
    return parts.flat();
  });
}

const RESOLVING = 6;

async function documentKindsOf(cluster: ClusterReader, target: TargetFacts): Promise<readonly DocumentKind[]> {
  const distinct = new Map(target.documents.map((one) => [`${one.apiVersion}|${one.kind}|${one.metadata.namespace ?? ''}`, one]));
  const resolved = await eachOf([...distinct.values()], RESOLVING, async ({ apiVersion, kind, metadata }) => {
    const found = await cluster.resolve(apiVersion, kind);
    if (!found) return [];
    return [{ kind: found, ...(found.namespaced && metadata.namespace ? { namespace: metadata.namespace } : {}) }];
  });
  return resolved.flat();
}

/** Asks, in one batch, for every permission that the plan needs; without a target for those that any run needs. */
export async function readAccess(
  cluster: ClusterReader,
  context: Context,
  detection: Reading<Detection>,
  target: Reading<WholeTarget>,
  searchesOwners: boolean,
): Promise<Reading<readonly AccessAnswer[]>> {
  return attempt(async () => {
    const documents = 'value' in target ? await documentKindsOf(cluster, targetFacts(target.value)) : [];
    const path = 'value' in detection && detection.value.type === 'found' ? detection.value.installation.path : undefined;
    const permissions = permissionsOf(context.profile, { stateNamespace: context.options.stateNamespace, documents, path, searchesOwners });
    const allowed = await cluster.reviewAccess(permissions.map(({ request }) => request));
    return permissions.map((permission, index) => ({ ...permission, allowed: allowed[index] === true }));
  });
}
