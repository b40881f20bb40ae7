import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { K } from '../../kernel/kinds.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Awaited } from '../ownerrefs/index.ts';
import { needs } from '../rights/index.ts';
import { SETTLED_BY_ROLLOUT } from '../rollout/index.ts';
import { pathStage } from '../survey/index.ts';
import { onPaths, pathOf } from './paths.ts';

/** The rolling update, or the operator's work (§4.2, §4.3, §4.4/3, §4.5/3). */
export const waitStage = pathStage({
  id: 'wait',
  title: 'Wait for the rolling update',
  ref: '§4.4/3',
  readOnly: true,
  needs: [needs.detection, needs.rollout, needs.chartRead, needs.operatorEnd],
  probes: true,
  traffic: 'agents',
  settles: SETTLED_BY_ROLLOUT,
  on: onPaths(({ end }) => end),
});

/** What is left of the upgrade before every pod of the API server is new, on any install path. */
export async function upgradeWaits(sources: Sources, context: Context, installation: Installation): Promise<readonly Awaited[]> {
  return installation.hasApiServer ? pathOf(installation).apiWaits(sources, context, installation) : [];
}

/** The new CRDs before the operator starts (§4.2, §4.3); a full manifest holds them itself. */
export const crdsStage = pathStage({
  id: 'crds',
  title: 'Install the new CRDs',
  ref: '§4.3/2',
  readOnly: false,
  needs: [
    needs.detection,
    needs.ownerSearch,
    needs.journal,
    needs.statuses,
    (profile, scope) =>
      needs.documents(profile, {
        ...scope,
        documents: scope.documents.filter(({ kind }) => kind.plural === K.CustomResourceDefinition.plural),
      }),
  ],
  traffic: 'untouched',
  reaches: 'crds',
  converges: true,
  on: onPaths(({ crds }) => crds),
});
