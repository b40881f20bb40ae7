import type { AccessAnswer, TargetFacts } from '../checks/facts.ts';
import type { Reading } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import type { Detection } from '../core/installation.ts';
import type { ClusterReader, Sources } from '../core/ports.ts';

import type { RunRecord } from '../core/run-record.ts';
import { readMergedTarget } from './merged-target.ts';
import type { DocumentKind } from './needs.ts';
import { permissionsOf } from './permissions.ts';
import { type PreviewedObject, previewDocuments } from './preview.ts';
import { attempt, eachOf } from './reading.ts';
import { targetDocuments } from './target.ts';

import { readCrdManifest } from './target-crds.ts';

/** The target for what is installed; without an installation there is none. */
export async function readTargetFor(
  sources: Sources,
  context: Context,
  detection: Reading<Detection>,
  record: Reading<RunRecord | undefined>,
): Promise<Reading<FoundTarget>> {
  if ('unread' in detection) return detection;
  if (detection.value.type !== 'found') return { unread: 'no installation was recognised, so its target is not known' };
  const { installation } = detection.value;
  const known = 'value' in record ? record.value : undefined;
  return attempt(async () => {
    if (installation.path === 'chart') return crdTarget(sources, context);
    const { target, previews } = await readMergedTarget(sources, context, installation, known);
    const crds = installation.path === 'operator' ? await crdTarget(sources, context) : undefined;
    const documents = [...targetDocuments(target), ...(crds?.facts.documents ?? [])];
    return { facts: { release: target.release, url: target.url, documents }, previews: [...previews, ...(crds?.previews ?? [])] };
  });
}

/** The target as it will be applied, edits and all, and what the server says to it. */
export interface FoundTarget {
  readonly facts: TargetFacts;
  readonly previews: readonly PreviewedObject[];
}

/**
 * The CRDs have a file of their own beside the operator; where the chart tool renders the rest, they are all that can be judged
 * beforehand, and the rendered objects are judged by `apply`.
 */
async function crdTarget(sources: Sources, context: Context): Promise<FoundTarget> {
  const { url, manifest } = await readCrdManifest(sources, context);
  const documents = manifest.documents.map(({ object }) => object);
  return { facts: { release: context.options.release, url, documents }, previews: await previewDocuments(sources.cluster, manifest) };
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

/**
 * Asks, in one batch, for everything that `run` needs; without a target for what any run needs.
 * @param meshed False if the mesh is known to be without the policy sidecar.
 */
export async function readAccess(
  cluster: ClusterReader,
  { profile, options: { stateNamespace } }: Context,
  detection: Reading<Detection>,
  target: Reading<FoundTarget>,
  meshed: boolean,
): Promise<Reading<readonly AccessAnswer[]>> {
  return attempt(async () => {
    const documents = 'value' in target ? await documentKindsOf(cluster, target.value.facts) : [];
    const chart = 'value' in detection && detection.value.type === 'found' ? detection.value.installation.chart : undefined;
    const scope = { stateNamespace, documents, meshed, ...(chart ? { chartNamespace: chart.namespace } : {}) };
    const permissions = permissionsOf('run', profile, scope);
    const allowed = await cluster.reviewAccess(permissions.map(({ request }) => request));
    return permissions.map((permission, index) => ({ ...permission, allowed: allowed[index] === true }));
  });
}
