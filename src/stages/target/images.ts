import type { Context } from '../../core/context.ts';
import { Fault } from '../../core/fault.ts';
import { helmTemplate } from '../../core/helm-argv.ts';
import type { Installation } from '../../core/installation.ts';
import type { KubeObject } from '../../core/object.ts';
import type { Sources } from '../../core/ports.ts';
import { imagesIn, listed, pullSecretsIn } from '../../merge/listed-images.ts';
import { parseManifest } from '../../merge/manifest.ts';
import { readSidecarImages } from '../alp/sidecar-images.ts';
import { runHelm } from '../chart/run-helm.ts';
import { type ChartFacts, readChartFacts } from '../chart/survey.ts';
import { readOperatedImages } from '../operator/operated-images.ts';
import { readMergedTarget } from './merged.ts';
import { targetDocuments } from './target.ts';

/** What the nodes of this cluster are going to pull. */
export interface TargetImages {
  /** With their registries, sorted, each once; with a digest where the target or the cluster pins one. */
  readonly images: readonly string[];
  /** Secrets that the target's workloads pull with: `namespace/name`. */
  readonly pullSecrets: readonly string[];
  /** What cannot be known, each a sentence. */
  readonly unknown: readonly string[];
}

/**
 * Every image of the target as this cluster will run it: with the person's registry where their edits say so. On the operator's
 * paths the operator decides about all but its own image.
 */
export async function readTargetImages(sources: Sources, context: Context, installation: Installation): Promise<TargetImages> {
  const { documents, unknown } = await readDocuments(sources, context, installation);
  const isOperated = installation.path === 'operator' || installation.path === 'chart';
  const [sidecars, operated] = await Promise.all([
    readSidecarImages(sources, context),
    isOperated ? readOperatedImages(sources, context, installation, documents) : { images: [], unknown: [] },
  ]);
  return {
    images: listed([...imagesIn(documents), ...operated.images, ...sidecars.images]),
    pullSecrets: [...new Set(pullSecretsIn(documents))].toSorted(),
    unknown: [...unknown, ...operated.unknown, ...sidecars.unknown],
  };
}

interface Found {
  readonly documents: readonly KubeObject[];
  readonly unknown: readonly string[];
}

async function readDocuments(sources: Sources, context: Context, installation: Installation): Promise<Found> {
  if (installation.path === 'chart') return { documents: await renderedChart(sources, context, installation), unknown: [] };
  const { target, edits } = await readMergedTarget(sources, context, installation, await sources.records.load());
  const documents = targetDocuments(target);
  if ('unread' in edits) return { documents, unknown: [`your edits are not in the list: ${edits.unread}`] };
  // By the path: what is decided for all images of a registry at once has a name of its own.
  const open = edits.value.conflicts.filter(({ path }) => /\.image$/.test(path)).map(({ field }) => field);
  return { documents, unknown: open.map((field) => `${field} is still to be decided: listed is what the target has there`) };
}

/** The chart as the upgrade renders it; where the server cannot try it yet, as the chart tool renders it with the same values. */
async function renderedChart(sources: Sources, context: Context, installation: Installation): Promise<readonly KubeObject[]> {
  const facts = await readChartFacts(sources, context, installation, 'earlier');
  if ('value' in facts.trial && facts.trial.value.type === 'accepted') return facts.trial.value.documents;
  const { upgrade, stored } = facts;
  if (!upgrade || 'unread' in stored) throw unrendered(facts);
  const values = await sources.work.write(VALUES_FILE, JSON.stringify(stored.value.record.values));
  const { tool, args } = helmTemplate(upgrade.name, upgrade.chart);
  const more = [
    ...['--namespace', upgrade.namespace, '--values', values],
    ...(upgrade.valuesFile === undefined ? [] : ['--values', upgrade.valuesFile]),
    ...upgrade.settings.flatMap(({ value, to }) => ['--set', `${value}=${to}`]),
  ];
  const text = await runHelm(sources.tools, { tool, args: [...args, ...more] });
  return parseManifest(text, 'the rendered chart')
    .documents.map(({ object }) => object)
    .filter(isUpgraded);
}

/** File of the release's own values (0600). */
const VALUES_FILE = 'image-values.json';

function unrendered({ helm, stored, target }: ChartFacts): Fault {
  const because = [stored, target, helm].flatMap((one) => ('unread' in one ? [one.unread] : [])).join('; ');
  return new Fault('blocked', `the chart could not be rendered: ${because || 'its upgrade is not known'}`, [
    'see what stands against it with: kubectl netsvc-upgrade preflight',
  ]);
}

/** Hooks run only at their own occasion: what cleans up at a removal is never pulled by an upgrade. */
function isUpgraded({ metadata }: KubeObject): boolean {
  const hook = metadata.annotations?.['helm.sh/hook'];
  return hook === undefined || hook.includes('upgrade');
}
