import { type CrdsJudged, crdsChecks } from '../../checks/crds.ts';
import { changes } from '../apply/file.ts';
import { pathPart } from '../path-stage.ts';
import { applyCrds, type CrdFacts, readCrdFacts } from '../target/crds.ts';
import { isDeployed } from './release.ts';

interface ChartCrds extends CrdsJudged {
  /** Undefined where the operator applies them itself. */
  readonly facts: CrdFacts | undefined;
}

/** The new CRDs before the chart's operator starts (§4.2/1), unless a person leaves them to it. */
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
    // How many pods the operator gets the chart says, which apply judges.
    return { installation, record, facts, previews: facts?.previews ?? [], writes, upgraded, atZero: [] };
  },
  plan({ facts, writes }, context) {
    if (!facts) return { skip: 'the new operator applies the CRDs itself (--manage-crds)' };
    const { crds, previews } = facts;
    if (!writes) return { skip: `every CRD is as ${crds.url} says` };
    return {
      actions: applyCrds(facts, '§4.2/1', context),
      objects: previews.map(({ planned }) => planned),
      notes: ['next, at once: apply. An old operator that is started again on new CRDs does not come up'],
      remember: { digests: { [crds.file]: crds.sha256 } },
    };
  },
});
