import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { isAnswer } from '../../kernel/interruption.ts';
import type { Sources } from '../../kernel/ports.ts';
import { parseManifest } from '../../manifest/manifest.ts';
import { helmTemplate, runHelm } from '../install-manifest/index.ts';
import { operatorEnd } from '../install-operator/index.ts';
import { containersOf } from '../survey/index.ts';
import { fetchedTarget } from './fetched.ts';
import { readStoredRelease } from './release.ts';

/** No image has this name: as long as the wanted one is unknown, no end is declared. */
const UNTOLD = 'an image that cannot be told';

/** The wait after a chart upgrade: the chart tool is done seconds after it began, the service is not. */
export const chartWait = operatorEnd(['chart'], chartOperatorImage);

/** As the stored release of the target has it; undefined where there is none, or it cannot be read. */
export async function deployedOperatorImage(
  { cluster }: Pick<Sources, 'cluster'>,
  context: Context,
  installation: Installation,
): Promise<string | undefined> {
  const stored = await readStoredRelease(cluster, installation);
  const isTarget = 'value' in stored && stored.value.record.chart.version === context.options.release;
  return isTarget ? imageIn(stored.value.record.manifest, context) : undefined;
}

/** As the upgraded release has it; before the upgrade as the chart has it, without the user's values. */
export async function chartOperatorImage(sources: Sources, context: Context, installation: Installation): Promise<string> {
  const deployed = await deployedOperatorImage(sources, context, installation);
  if (deployed !== undefined) return deployed;
  const text = await renderedChart(sources, context);
  return (text === undefined ? undefined : imageIn(text, context)) ?? UNTOLD;
}

async function renderedChart(sources: Sources, context: Context): Promise<string | undefined> {
  const fetched = await fetchedTarget(sources, context);
  if ('unread' in fetched) return undefined;
  try {
    return await runHelm(sources.tools, helmTemplate('target', fetched.value.place));
  } catch (thrown) {
    if (isAnswer(thrown)) return undefined; // apply says why, with NS-235
    throw thrown;
  }
}

function imageIn(text: string, { profile }: Context): string | undefined {
  const { deployment } = profile.operator;
  const operator = parseManifest(text, 'the chart').documents.find(
    ({ object }) => object.kind === 'Deployment' && object.metadata.name === deployment,
  )?.object;
  return operator && containersOf(operator).find(({ name }) => name === deployment)?.image;
}
