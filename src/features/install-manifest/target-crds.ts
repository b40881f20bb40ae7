import type { Action } from '../../kernel/action.ts';
import { serverSideApply, type Tools } from '../../kernel/argv.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { Fault } from '../../kernel/fault.ts';
import { type Installation, isByChart } from '../../kernel/installation.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import { NO_SOURCE, type Sources } from '../../kernel/ports.ts';
import { or } from '../../kernel/step.ts';
import { noReturnOfOperator } from '../../kernel/undo.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { documentsText, readManifest } from '../../manifest/manifest.ts';
import type { TargetFile } from './identity.ts';
import { isPending, type PreviewedObject } from './outcome.ts';
import { takeOverOwnership } from './ownership-taken.ts';
import { previewDocuments } from './preview.ts';
import { type ChartPlace, helmOn, runHelm } from './run-helm.ts';
import { fetched } from './target.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    readonly chartRepository?: string;
    /** The chart with the CRDs, rendered instead of the release's CRD file; `crdChartOf` has the default. */
    readonly crdChart?: string;
  }
}

/** The CRDs of the target, which have a file of their own for the paths with an operator (§4.2, §4.3), and what applying them would change. */
export interface CrdFacts {
  readonly crds: TargetFile;
  readonly previews: readonly PreviewedObject[];
}

/** A chart's CRDs come from where the chart comes from. */
type Kind = Pick<Installation, 'path' | 'release'>;

export async function readCrdFacts(sources: Sources, context: Context, installation: Kind): Promise<CrdFacts> {
  const crds = await readCrdManifest(sources, context, installation);
  return { crds, previews: await previewDocuments(sources.cluster, crds.manifest) };
}

/** The CRDs stay, and an operator of the release that is installed may not run on them. */
function goneWith({ path, release }: Kind): Partial<Pick<Action, 'undo' | 'pointOfNoReturn'>> {
  const past = { path, intent: release === undefined ? {} : { from: release } };
  return noReturnOfOperator(past) ? { undo: 'none', pointOfNoReturn: 'crds' } : {};
}

/** The CRDs applied as one file, and waited for; `ref` is the step of the path that asks for them. Nothing where all is as the file says. */
export function applyCrds(
  { crds: { file, manifest }, previews }: CrdFacts,
  ref: string,
  context: Context,
  installation: Kind,
  title = `apply ${file}`,
): readonly Action[] {
  const actions = applyWhole({ id: 'crds', file, title, ref, manifest, previews }, context);
  const written = actions.map((action) => (action.effect.type === 'exec' ? { ...action, ...goneWith(installation) } : action));
  return actions.length === 0 ? [] : [...written, ...waitForCrds('crds-established', ref, previews)];
}

/** From the release's file, or rendered from the chart of the CRDs (§4.2/1). Throws Fault if it holds anything else. */
export async function readCrdManifest(sources: Sources, context: Context, installation: Kind): Promise<TargetFile> {
  const { profile, goal } = context;
  const chart = await crdChartOf(sources, context, installation);
  const read = chart ? await rendered(sources.tools, chart, profile.crdFile) : await fetched(sources, goal.release, profile.crdFile);
  const other = read.manifest.documents.find(({ object }) => object.kind !== 'CustomResourceDefinition');
  if (other || read.manifest.documents.length === 0) {
    throw new Fault('blocked', `${read.url} is not a file of CRDs: ${other ? `it has a ${other.object.kind}` : 'it is empty'}`, [
      'give the source of the target release with --manifest-url, or the CRD chart with --crd-chart',
    ]);
  }
  return read;
}

/** By flag, else the profile's in the repository that the operator's chart comes from, unless `--manifest-url` says where the files are. */
async function crdChartOf(
  { artifacts, files }: Sources,
  { profile, goal: { release }, options }: Context,
  installation: Kind,
): Promise<ChartPlace | undefined> {
  const { chart, chartRepository, crdChart } = options;
  const inRepository = (ref: string, repository: string | undefined) => ({ ref, ...(repository ? { repository } : {}), release });
  if (crdChart !== undefined) return inRepository(crdChart, chartRepository);
  if (!isByChart(installation) || artifacts.source !== (profile.manifestUrl ?? NO_SOURCE)) return undefined;
  const repository = chartRepository ?? (chart === undefined ? profile.operator.chartNames?.repository : undefined);
  if (repository !== undefined) return inRepository(profile.crdChart, repository);
  // A name of the form `repository/chart`, unless it is a folder of this machine.
  const [, known] = /^(\w[\w.-]*)\/[\w.-]+$/.exec(chart ?? '') ?? [];
  const isNamed = known !== undefined && chart !== undefined && !(await files.exists(chart));
  return isNamed ? inRepository(`${known}/${profile.crdChart}`, undefined) : undefined;
}

async function rendered(tools: Tools, chart: ChartPlace, file: string): Promise<TargetFile> {
  const url = chart.repository === undefined ? chart.ref : `${chart.ref} of ${chart.repository}`;
  const text = await runHelm(tools, helmOn(chart, ['template', 'crds'])).catch((thrown: unknown) => {
    if (!isAnswer(thrown)) throw thrown;
    const instead = or('name the folder or address of the release’s files with --manifest-url, or another chart with --crd-chart');
    throw new Fault(thrown.code, `the CRDs cannot be rendered from ${url}: ${thrown.message}`, [...thrown.suggestions, instead]);
  });
  return { file, url, sha256: sha256Of(text), text, manifest: await readManifest(text, url) };
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
  const ownership = takeOverOwnership(previews).map((action) => ({ ...action, id: `${id}-${action.id}`, ref }));
  return [
    { id: `${id}-file`, title: `save ${file}`, ref, undo: 'full', effect: { type: 'write', file, content } },
    ...ownership,
    { id, title, ref, undo: 'partial', effect: { type: 'exec', run: serverSideApply(`${context.workFolder}/${file}`), canAsk: true } },
  ];
}
