import type { Action } from '../core/action.ts';
import { serverSideApply } from '../core/argv.ts';
import type { Context } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import { helmTemplate } from '../core/helm-argv.ts';
import type { Sources } from '../core/ports.ts';
import { manifestOf } from '../merge/artifact-manifest.ts';
import { type Manifest, parseManifest } from '../merge/manifest.ts';
import { waveText } from '../merge/waves.ts';
import { type PreviewedObject, previewDocuments } from './preview.ts';
import { runHelm } from './run-helm.ts';
import { sha256Of } from './sha256.ts';

/** Name under which the CRDs are saved; what is applied is this file. */
export const CRD_FILE = 'crds.yaml';

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
export interface TargetCrds extends CrdManifest {
  readonly previews: readonly PreviewedObject[];
}

export async function readTargetCrds(sources: Sources, context: Context): Promise<TargetCrds> {
  const read = await readCrdManifest(sources, context);
  return { ...read, previews: await previewDocuments(sources.cluster, read.manifest) };
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

/** True while one of them is not as the target has it. */
export function areCrdsPending({ previews }: Pick<TargetCrds, 'previews'>): boolean {
  return previews.some(({ planned, adopted }) => planned.change !== 'unchanged' || adopted !== undefined);
}

/** The file, and the procedure's command; nothing where nothing would change. */
export function crdActions(crds: TargetCrds, { workFolder }: Context): readonly Action[] {
  if (!areCrdsPending(crds)) return [];
  const content = waveText({ id: 'all', title: '', file: CRD_FILE, documents: crds.manifest.documents });
  return [
    { id: 'crd-file', title: `save ${CRD_FILE}`, ref: '§4.2/1', undo: 'full', effect: { type: 'write', file: CRD_FILE, content } },
    {
      id: 'crds',
      title: 'apply the CRDs of the target',
      ref: '§4.2/1',
      undo: 'partial',
      effect: { type: 'exec', run: serverSideApply(`${workFolder}/${CRD_FILE}`) },
    },
  ];
}
