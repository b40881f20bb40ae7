import type { Action } from '../../kernel/action.ts';
import { serverSideApply } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Sources } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { documentsText, parseManifest } from '../../manifest/manifest.ts';
import type { TargetFile } from './identity.ts';
import { isPending, type PreviewedObject } from './outcome.ts';
import { takeOverOwnership } from './ownership-taken.ts';
import { previewDocuments } from './preview.ts';
import { helmOn, runHelm } from './run-helm.ts';
import { fetched } from './target.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    readonly chartRepository?: string;
    /** The chart with the CRDs, rendered instead of the release's CRD file. */
    readonly crdChart?: string;
  }
}

/** The CRDs of the target, which have a file of their own for the paths with an operator (§4.2, §4.3), and what applying them would change. */
export interface CrdFacts {
  readonly crds: TargetFile;
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
export async function readCrdManifest(sources: Sources, context: Context): Promise<TargetFile> {
  const { profile, options } = context;
  const read = options.crdChart === undefined ? await fetched(sources, options.release, profile.crdFile) : await rendered(sources, context);
  const other = read.manifest.documents.find(({ object }) => object.kind !== 'CustomResourceDefinition');
  if (other || read.manifest.documents.length === 0) {
    throw new Fault('blocked', `${read.url} is not a file of CRDs: ${other ? `it has a ${other.object.kind}` : 'it is empty'}`, [
      'give the source of the target release with --manifest-url, or the CRD chart with --crd-chart',
    ]);
  }
  return read;
}

async function rendered({ tools }: Sources, { profile, options }: Context): Promise<TargetFile> {
  const { crdChart = '', chartRepository, release } = options;
  const chart = { ref: crdChart, ...(chartRepository ? { repository: chartRepository } : {}), release };
  const text = await runHelm(tools, helmOn(chart, ['template', 'crds']));
  return { file: profile.crdFile, url: crdChart, sha256: sha256Of(text), text, manifest: parseManifest(text, crdChart) };
}

/** Far more than the server needs: a slower definition is refused for good, and its condition says why. */
const ESTABLISHED_MS = 60_000;

/** Until the server serves what was just defined: what comes next is of those kinds, or starts what watches them. Nothing where none is. */
export function waitForCrds(id: string, ref: string, previews: readonly PreviewedObject[]): readonly Action[] {
  const applied = previews.filter((one) => one.document.kind === 'CustomResourceDefinition' && isPending(one));
  const names = applied.map(({ document }) => document.metadata.name);
  if (names.length === 0) return [];
  const title = `wait until ${counted(names.length, 'CRD')} ${names.length === 1 ? 'is' : 'are'} established`;
  return [
    { id, title, ref, undo: 'full', effect: { type: 'wait', until: { type: 'crds-established', names }, timeoutMs: ESTABLISHED_MS } },
  ];
}

/** A manifest that is applied whole, as one file. */
interface WholeFile extends Pick<Action, 'id' | 'title' | 'ref'>, Pick<TargetFile, 'file' | 'manifest'> {
  readonly previews: readonly PreviewedObject[];
}

/** Whether applying the file would change anything. */
export function changes({ previews }: Pick<WholeFile, 'previews'>): boolean {
  return previews.some(isPending);
}

/** Ownership, the file itself, and the procedure's command; nothing where all is as the file says. */
export function applyWhole(whole: WholeFile, context: Context): readonly Action[] {
  if (!changes(whole)) return [];
  const { id, file, title, ref, manifest, previews } = whole;
  const content = documentsText(manifest.documents);
  const ownership = takeOverOwnership(previews, context).map((action) => ({ ...action, id: `${id}-${action.id}`, ref }));
  return [
    { id: `${id}-file`, title: `save ${file}`, ref, undo: 'full', effect: { type: 'write', file, content } },
    ...ownership,
    { id, title, ref, undo: 'partial', effect: { type: 'exec', run: serverSideApply(`${context.workFolder}/${file}`) } },
  ];
}
