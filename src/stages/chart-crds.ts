import { nothingRefusedNow } from '../checks/apply.ts';
import { pathPart } from './path-stage.ts';
import { crdActions, readTargetCrds, type TargetCrds } from './target-crds.ts';

interface CrdFacts {
  readonly previews: TargetCrds['previews'];
  /** Undefined where the operator applies them itself. */
  readonly crds: TargetCrds | undefined;
}

/** The new CRDs before the chart's operator starts (§4.2/1), unless a person leaves them to it. */
export const chartCrds = pathPart<CrdFacts>({
  paths: ['chart'],
  checks: [nothingRefusedNow],
  async survey(sources, context) {
    const crds = context.options.manageCrds ? undefined : await readTargetCrds(sources, context);
    return { crds, previews: crds?.previews ?? [] };
  },
  plan({ crds }, context) {
    if (!crds) return { skip: 'the new operator applies the CRDs itself (--manage-crds)' };
    const actions = crdActions(crds, context);
    if (actions.length === 0) return { skip: `every CRD is as ${crds.url} says` };
    return {
      actions,
      objects: crds.previews.map(({ planned }) => planned),
      notes: ['next, at once: apply. An old operator that is started again on new CRDs does not come up'],
      remember: { digests: { [context.profile.crdFile]: crds.sha256 } },
    };
  },
});
