import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Sources } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { manifestOf } from '../../manifest/artifact-manifest.ts';
import { type Manifest, parseManifest } from '../../manifest/manifest.ts';
import { previewDocuments } from './documents.ts';
import { applyWhole } from './file.ts';
import { helmTemplate } from './helm-argv.ts';
import type { PreviewedObject } from './outcome.ts';
import { runHelm } from './run-helm.ts';
import { waitForCrds } from './wait-crds.ts';

/** The CRDs of the target release, which have a file of their own for the paths with an operator (§4.2, §4.3). */
export interface CrdManifest {
  /** The release’s name for it. */
  readonly file: string;
  readonly url: string;
  readonly sha256: string;
  readonly text: string;
  readonly manifest: Manifest;
}

/** The CRDs of the target, and what applying them would change. */
export interface CrdFacts {
  readonly crds: CrdManifest;
  readonly previews: readonly PreviewedObject[];
}

export async function readCrdFacts(sources: Sources, context: Context): Promise<CrdFacts> {
  const crds = await readCrdManifest(sources, context);
  return { crds, previews: await previewDocuments(sources.cluster, crds.manifest, context.options.ownership) };
}

/** The CRDs applied as one file, and waited for; `ref` is the step of the path that asks for them. Nothing where all is as the file says. */
export function applyCrds(
  { crds: { file, manifest }, previews }: CrdFacts,
  ref: string,
  context: Context,
  title = `apply ${file}`,
): readonly Action[] {
  const actions = applyWhole({ id: 'crds', file, title, ref, manifest, previews }, context);
  return actions.length === 0 ? [] : [...actions, ...waitForCrds('crds-established', ref, previews)];
}

/** From the release's file, or rendered from the chart that `--crd-chart` names (§4.2/1). Throws Fault if it holds anything else. */
export async function readCrdManifest(sources: Sources, context: Context): Promise<CrdManifest> {
  const read = context.options.crdChart === undefined ? await fetched(sources, context) : await rendered(sources, context);
  const other = read.manifest.documents.find(({ object }) => object.kind !== 'CustomResourceDefinition');
  if (other || read.manifest.documents.length === 0) {
    throw new Fault('blocked', `${read.url} is not a file of CRDs: ${other ? `it has a ${other.object.kind}` : 'it is empty'}`, [
      'give the source of the target release with --manifest-url, or the CRD chart with --crd-chart',
    ]);
  }
  return read;
}

async function fetched({ artifacts }: Sources, { profile, options }: Context): Promise<CrdManifest> {
  const artifact = await artifacts.fetch(options.release, `manifests/${profile.crdFile}`);
  return {
    file: profile.crdFile,
    url: artifact.url,
    sha256: artifact.sha256,
    text: new TextDecoder().decode(artifact.bytes),
    manifest: manifestOf(artifact),
  };
}

async function rendered({ tools }: Sources, { profile, options }: Context): Promise<CrdManifest> {
  const { crdChart = '', chartRepository, release } = options;
  const run = helmTemplate('crds', { ref: crdChart, ...(chartRepository ? { repository: chartRepository } : {}), release });
  const text = await runHelm(tools, run);
  return { file: profile.crdFile, url: crdChart, sha256: await sha256Of(text), text, manifest: parseManifest(text, crdChart) };
}
