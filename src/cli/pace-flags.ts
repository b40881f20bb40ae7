import { BOTH_WAYS, carried, partOf, type Table } from './flag.ts';

/** Limits, and at what pace agents and owner references are changed. A run that is continued is given them again. */

/** How the agents are replaced. */
const agents = { ...carried, on: ['plan', 'run', 'rollback', 'apply'] } as const;
/** A command of the user, started beside the replacement of agents. */
const userCommand = { ...agents, ...partOf('apply'), decidesTrust: true, isUserCommand: true, helpValue: 'COMMAND' } as const;
/** Owner references: whether they go, and how fast. */
const owners = { ...carried, on: ['preflight', 'plan', 'run', 'commit', 'rollback', 'apply', 'ownerrefs'] } as const;

export const paceFlags = {
  timeout: {
    type: 'duration',
    option: 'timeoutMs',
    ...carried,
    on: BOTH_WAYS,
    helpValue: 'TIME',
    summary: 'limit of each wait: 90s, 10m; default: by the number of nodes',
  },
  'max-failed': {
    type: 'integer',
    option: 'maxFailed',
    ...carried,
    ...partOf('apply', 'wait', 'alp'),
    helpValue: 'N',
    default: 0,
    min: 0,
    summary: 'failed pods that a wait still tolerates',
  },
  canary: {
    option: 'canary',
    ...agents,
    stops: true,
    ofOneWay: true,
    helpValue: 'N|N%|NODE,…|SELECTOR',
    summary: 'manifest installs: upgrade only the agents of these nodes, then stop; commit continues',
  },
  soak: {
    type: 'duration',
    option: 'soakMs',
    ...agents,
    stops: true,
    ofOneWay: true,
    helpValue: 'TIME',
    summary: 'watch the nodes of --canary for so long, then continue by itself: 30m',
  },
  'max-unavailable': {
    isPace: true,
    ...agents,
    ...partOf('apply'),
    helpValue: 'N|N%',
    summary: 'agents that may be unavailable at a time, until all are upgraded; then their own value again',
  },
  until: {
    option: 'until',
    ...agents,
    stops: true,
    on: ['plan', 'run', 'apply'],
    options: ['agents', 'controllers'],
    summary:
      'stop before Typha and the controllers are new (agents), or with all new, and no stored policy renamed (controllers); commit continues',
  },
  probe: {
    ...userCommand,
    // One that fails would keep the undo of what it stopped from beginning.
    ofOneWay: true,
    summary:
      'run this command every few seconds, from before the start; the run stops once it has failed twice in a row. No shell reads it',
  },
  'before-node': {
    ...userCommand,
    summary: 'manifest installs: run this command before the agent of a node is replaced; {node} is its name. If it fails, the run stops',
  },
  'after-node': { ...userCommand, summary: 'the same once the new agent of the node is ready' },
  qps: {
    type: 'integer',
    option: 'qps',
    ...owners,
    helpValue: 'N',
    min: 1,
    summary: 'at most N patches per second; default: what the server accepts',
  },
  parallel: {
    type: 'integer',
    option: 'parallel',
    ...owners,
    helpValue: 'N',
    min: 1,
    max: 256,
    summary: 'at most N patches at a time; default: 16',
  },
} as const satisfies Table;
