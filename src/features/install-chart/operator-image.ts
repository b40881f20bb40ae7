import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { ClusterReader, Sources } from '../../kernel/ports.ts';
import { objectsIn, readManifest } from '../../manifest/manifest.ts';
import { helmOn, runHelm } from '../install-manifest/index.ts';
import { containersOf } from '../survey/index.ts';
import { readFormer } from './former.ts';
import { type HelmRecord, recordedObjects } from './helm-record.ts';
import { readStoredRelease } from './release.ts';
import { fetchedTarget, reading } from './source.ts';

/** No image has this name: as long as the wanted one is unknown, no end is declared. */
const UNTOLD = 'an image that cannot be told';

/** The newest revision where it is of that release of the service; undefined where there is none, or it cannot be read. */
async function recordOf(cluster: ClusterReader, installation: Installation, release: string): Promise<HelmRecord | undefined> {
  const stored = await readStoredRelease(cluster, installation);
  return 'value' in stored && stored.value.record.chart.version === release ? stored.value.record : undefined;
}

export async function isDeployed(cluster: ClusterReader, installation: Installation, release: string): Promise<boolean> {
  return (await recordOf(cluster, installation, release))?.status === 'deployed';
}

/** As the stored release of the target has it. */
export async function deployedOperatorImage(
  { cluster }: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
): Promise<string | undefined> {
  const record = await recordOf(cluster, installation, context.goal.release);
  return record && imageIn(recordedObjects(record), context);
}

/** No chart is rendered to verify: without the release's image, statuses, release and API are still evaluated. */
export async function releasedOperatorImage(
  sources: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
): Promise<string> {
  const workload = installation.operator && refText({ kind: 'Deployment', ...installation.operator });
  const running = installation.components.find((one) => one.component === 'operator' && one.workload === workload)?.image;
  return (await deployedOperatorImage(sources, context, installation)) ?? running ?? '';
}

/** As the upgraded release has it; before the upgrade as the chart has it, without the user's values. */
export async function chartOperatorImage(sources: Sources, context: Context, installation: Installation): Promise<string> {
  const deployed = await deployedOperatorImage(sources, context, installation);
  if (deployed !== undefined) return deployed;
  if (context.goal.takesBack) {
    const former = await readFormerOf(sources.cluster, context, installation);
    return (former && imageIn(recordedObjects(former), context)) ?? UNTOLD;
  }
  const fetched = await fetchedTarget(sources, context);
  // Why it cannot be rendered, apply says with NS-235.
  const text =
    'unread' in fetched ? fetched : await reading(() => runHelm(sources.tools, helmOn(fetched.value.place, ['template', 'target'])));
  return ('unread' in text ? undefined : imageIn(objectsIn(await readManifest(text.value, 'the chart')), context)) ?? UNTOLD;
}

/** The revision that a rollback puts back; undefined where there is none, or it cannot be read. */
export async function readFormerOf(cluster: ClusterReader, context: Context, installation: Installation): Promise<HelmRecord | undefined> {
  const stored = await readStoredRelease(cluster, installation);
  const former = 'value' in stored ? await readFormer(cluster, stored.value, context) : undefined;
  return former && 'value' in former ? former.value.record : undefined;
}

function imageIn(objects: readonly KubeObject[], { profile }: Context): string | undefined {
  const { deployment } = profile.operator;
  const operator = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === deployment);
  return operator && containersOf(operator).find(({ name }) => name === deployment)?.image;
}
