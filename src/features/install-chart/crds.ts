import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Installation } from '../../kernel/installation.ts';
import { applyCrds, type CrdFacts, changes, readCrdFacts } from '../install-manifest/index.ts';
import { type CrdsJudged, crdsChecks } from '../install-operator/index.ts';
import { pathPart } from '../survey/index.ts';
import { isDeployed } from './release.ts';

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
    const [record, upgraded] = await Promise.all([
      sources.records.load(),
      writes ? isDeployed(sources.cluster, installation, context.options.release) : false,
    ]);
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
