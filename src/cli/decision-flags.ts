import { BOTH_WAYS, carried, repeatable, type Table } from './flag.ts';

/** What was decided about the upgrade. A run that is continued is given it again. */

/** For a rollback as well. */
const bothWays = { ...carried, on: BOTH_WAYS } as const;

export const decisionFlags = {
  resolve: {
    ...bothWays,
    ofOneWay: true,
    helpValue: 'FIELD=mine|theirs',
    ...repeatable,
    summary: 'resolve a conflict: keep `mine` or take `theirs`; repeatable',
  },
  accept: {
    ...bothWays,
    decidesTrust: true,
    ofOneWay: true,
    helpValue: 'CHECK-ID[=SUBJECT]',
    ...repeatable,
    summary: 'waive a failed check, or one subject of it: shown as accepted, it stops nothing; repeatable',
  },
  'fail-on': {
    option: 'failOn',
    ...bothWays,
    options: ['error', 'warning'],
    default: 'error',
    summary: 'findings that stop the command',
  },
  'manage-crds': {
    type: 'boolean',
    option: 'manageCrds',
    ...carried,
    summary: 'chart installs: leave the CRDs to the new operator instead of applying them first',
  },
  'move-release': {
    type: 'boolean',
    option: 'moveRelease',
    ...carried,
    summary: 'chart installs: move a release of a chart up to v3.22 from its namespace to that of the operator',
  },
  'enable-flow-logs': {
    type: 'boolean',
    option: 'enableFlowLogs',
    ...carried,
    on: ['preflight', 'plan', 'run', 'commit', 'apply'],
    summary: 'operator installs: add the flow-log aggregator, which a hosted observability console needs to receive flow logs, and its UI',
  },
} as const satisfies Table;
