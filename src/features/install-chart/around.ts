import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import { objectsIn, parseManifest } from '../../manifest/manifest.ts';
import { applyCrds, type CrdFacts, changes, helmTemplate, readCrdFacts, runHelm } from '../install-manifest/index.ts';
import { type CrdsJudged, crdsChecks } from '../install-operator/index.ts';
import { containersOf, pathPart } from '../survey/index.ts';
import { readStoredRelease } from './release.ts';
import { fetchedTarget, reading } from './source.ts';

/** What `apply` always refuses is refused before the CRDs, as an old operator must not meet new ones (NS-244). */
function refuseMisplaced({ chart, operator }: Installation, { options }: Context): void {
  if (!chart || !operator || chart.namespace === operator.namespace || options.moveRelease) return;
  throw new Fault(
    'blocked',
    `release ${chart.namespace}/${chart.name} is not in the namespace of its operator, ${operator.namespace}: it cannot be upgraded there`,
    ['have it moved with --move-release', 'see: kubectl netsvc-upgrade explain NS-244'],
  );
}

interface ChartCrds extends CrdsJudged {
  /** Undefined where the operator applies them itself. */
  readonly facts: CrdFacts | undefined;
}

/** The new CRDs before the chart's operator starts (§4.2/1), unless the user leaves them to it. */
export const chartCrds = pathPart<ChartCrds>({
  paths: ['chart'],
  checks: crdsChecks,
  async survey(sources, context, installation) {
    const facts = context.options.manageCrds ? undefined : await readCrdFacts(sources, context);
    const writes = facts !== undefined && changes(facts);
    const [record, stored] = await Promise.all([
      sources.records.load(),
      writes ? readStoredRelease(sources.cluster, installation) : undefined,
    ]);
    const { status, chart } = stored && 'value' in stored ? stored.value.record : {};
    const upgraded = status === 'deployed' && chart?.version === context.options.release;
    // How many pods the operator gets the chart says, which apply evaluates.
    return { installation, record, facts, previews: facts?.previews ?? [], writes, upgraded, atZero: [] };
  },
  plan({ facts, writes, installation }, context) {
    if (!facts) return { skip: 'the new operator applies the CRDs itself (--manage-crds)' };
    const { crds, previews } = facts;
    if (writes) refuseMisplaced(installation, context);
    if (!writes) return { skip: `every CRD equals ${crds.url}` };
    return {
      actions: applyCrds(facts, '§4.2/1', context),
      objects: previews.map(({ planned }) => planned),
      notes: ['run apply at once: an old operator that restarts with the new CRDs does not come up'],
      remember: { digests: { [crds.file]: crds.sha256 } },
    };
  },
});

/** No image has this name: as long as the wanted one is unknown, no end is declared. */
const UNTOLD = 'an image that cannot be told';

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
  const fetched = await fetchedTarget(sources, context);
  // Why it cannot be rendered, apply says with NS-235.
  const text = 'unread' in fetched ? fetched : await reading(() => runHelm(sources.tools, helmTemplate('target', fetched.value.place)));
  return ('unread' in text ? undefined : imageIn(text.value, context)) ?? UNTOLD;
}

function imageIn(text: string, { profile }: Context): string | undefined {
  const { deployment } = profile.operator;
  const objects = objectsIn(parseManifest(text, 'the chart'));
  const operator = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === deployment);
  return operator && containersOf(operator).find(({ name }) => name === deployment)?.image;
}
