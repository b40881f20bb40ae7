import { nothingRefusedNow } from '../checks/apply.ts';
import type { InstallPath } from '../core/installation.ts';
import { pathWay, stageOfPaths } from './path-stage.ts';
import { crdActions, readTargetCrds, type TargetCrds } from './target-crds.ts';

const IN_MANIFEST = 'the full manifest holds the CRDs: apply installs them first';

interface CrdFacts {
  readonly previews: TargetCrds['previews'];
  /** Undefined where the operator applies them itself. */
  readonly crds: TargetCrds | undefined;
}

const chartCrds = pathWay<CrdFacts>({
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

const operatorCrds = pathWay<InstallPath>({
  paths: ['operator'],
  checks: [],
  survey: async (_sources, _context, { path }) => path,
  plan: (path) => ({ skip: `not there yet for an installation by ${path}` }),
});

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = stageOfPaths({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  needless: { manifest: IN_MANIFEST, kvstore: IN_MANIFEST },
  readOnly: false,
  converges: true,
  ways: [chartCrds, operatorCrds],
});
