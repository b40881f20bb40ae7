import { type CrdsJudged, crdsChecks } from '../../checks/crds.ts';
import { changes } from '../apply/file.ts';
import { pathPart } from '../path-stage.ts';
import { stoppedOperator } from '../rollout/at-zero.ts';
import { applyCrds, type CrdFacts, readCrdFacts } from '../target/crds.ts';

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
    const [record, atZero] = await Promise.all([sources.records.load(), writes ? stoppedOperator(sources.cluster, installation) : []]);
    return { installation, record, facts, previews: facts?.previews ?? [], writes, atZero };
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
