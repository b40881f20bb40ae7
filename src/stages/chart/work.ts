import type { HelmStorage } from '../../core/helm-argv.ts';
import type { ChartRelease } from '../../core/installation.ts';
import type { KubeObject } from '../../core/object.ts';
import type { Sources } from '../../core/ports.ts';
import { parseManifest } from '../../merge/manifest.ts';
import { attempt } from '../reading.ts';
import { removedObjects } from './objects.ts';
import { renderedChart } from './rendered.ts';
import type { ChartFacts } from './survey.ts';

/** What the chart tool does to the cluster in an upgrade, as far as its account must be allowed to. */
export interface ChartWork {
  readonly namespace: string;
  readonly storage: HelmStorage;
  /** Objects of the installed revision. */
  readonly installed: readonly KubeObject[];
  /** Objects that it creates or patches; none where the release is at the target already. */
  readonly written: readonly KubeObject[];
  /** Objects that it deletes: the new revision no longer has them. */
  readonly removed: readonly KubeObject[];
  readonly upgraded: boolean;
}

/** By the rendered chart; where it cannot be rendered, by what the installed revision holds. */
export async function chartWork(
  sources: Pick<Sources, 'tools' | 'work'>,
  facts: ChartFacts,
  { namespace }: ChartRelease,
): Promise<ChartWork> {
  const { stored, upgraded } = facts;
  const placed = (one: KubeObject) => ({ ...one, metadata: { namespace, ...one.metadata } });
  const manifest = 'value' in stored ? parseManifest(stored.value.record.manifest, 'the stored release').documents : [];
  const installed = manifest.map(({ object }) => placed(object));
  const common = { namespace, storage: 'value' in stored ? stored.value.storage : 'Secret', installed, upgraded } as const;
  if (upgraded) return { ...common, written: [], removed: [] };
  const rendered = await attempt(() => renderedChart(sources, facts));
  if ('unread' in rendered) return { ...common, written: installed, removed: [] };
  const written = rendered.value.map(placed);
  return { ...common, written, removed: removedObjects(installed, written) };
}
