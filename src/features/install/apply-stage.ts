import { K } from '../../kernel/kinds.ts';
import { refusingPace } from '../canary/index.ts';
import { allow, type Needs, needs } from '../rights/index.ts';
import { pathStage } from '../survey/index.ts';
import { keepingAddresses } from './kept-addresses.ts';
import { onPaths } from './paths.ts';

const NEEDS: readonly Needs[] = [
  needs.detection,
  needs.documents,
  needs.podDryRuns,
  needs.rollout,
  needs.ownerSearch,
  needs.journal,
  needs.chartRead,
  needs.chartRelease,
  needs.typhaHold,
  needs.agentPace,
  needs.statuses,
  ({ crdGroup: group, ipam }) => {
    const kinds = ipam ? [ipam.blocks, ipam.affinities, ipam.handles] : [];
    return allow(
      ['list'],
      kinds.map(({ plural }) => ({ group, plural })),
      'address bookkeeping, for verify to compare with',
      { required: false },
    );
  },
  needs.operatorEnd,
  () => allow(['list', 'watch'], K.APIService, 'the aggregated API after its manifest'),
  ({ crdGroup: group, controllersConfiguration: { plural } }) => [
    ...allow(['get'], { group, plural }, 'renaming of policies'),
    ...allow(['patch'], { group, plural }, 'renaming of policies (--until controllers)', { required: false }),
  ],
];

const APPLY = {
  id: 'apply',
  title: 'Apply the target release',
  ref: '§4.4/2',
  readOnly: false,
  needs: NEEDS,
  traffic: 'agents',
  reaches: 'workloads',
  installs: true,
  converges: true,
} as const;

/** The manifest, the operator's or the chart (§4.2/2, §4.3/2, §4.4/1–2). */
export const applyStage = pathStage({
  ...APPLY,
  on: onPaths(({ apply, writesAgents }) => keepingAddresses(writesAgents ? apply : refusingPace(apply))),
  undo: pathStage({ ...APPLY, on: onPaths(({ undo }) => undo) }),
});
