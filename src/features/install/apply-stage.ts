import { NO_RETURNS } from '../../kernel/undo.ts';
import { refusingPace } from '../canary/index.ts';
import { pathStage } from '../survey/index.ts';
import { onPaths } from './paths.ts';

const APPLY = {
  id: 'apply',
  title: 'Apply the target release',
  ref: '§4.4/2',
  readOnly: false,
  traffic: 'agents',
  reaches: 'workloads',
  installs: true,
  noReturns: Object.values(NO_RETURNS),
  converges: true,
} as const;

/** The manifest, the operator's or the chart (§4.2/2, §4.3/2, §4.4/1–2). */
export const applyStage = pathStage({
  ...APPLY,
  on: onPaths(({ apply, writesAgents }) => (writesAgents ? apply : refusingPace(apply))),
  undo: pathStage({ ...APPLY, on: onPaths(({ undo }) => undo) }),
});
