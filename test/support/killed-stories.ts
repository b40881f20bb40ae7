import { K } from '../../src/kernel/kinds.ts';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { Profile } from '../../src/kernel/profile.ts';
import { waved } from './canary-sandbox.ts';
import { type Ground, groundOf, put } from './incident-grounds.ts';
import { agentsOf, type Moment, OWN } from './moment.ts';
import { installedSandbox } from './sandbox-ports.ts';
import { CALICO_TARGET } from './target.ts';

/** What happened until this moment. */
export interface Told {
  /** Which of the commands is at work. */
  readonly command: number;
  /** Nodes that `--before-node` was run for. */
  readonly prepared: ReadonlySet<string>;
  /** The pods of the agents in the beginning, by node. */
  readonly first: Moment['uids'];
  /** When each agent was first new. */
  readonly replaced: ReadonlyMap<string, number>;
  /** When this process began. */
  readonly begun: number;
  now(): number;
}

/** Commands that are typed one after another, and what holds at every moment of them. */
export interface Story {
  readonly open: () => Promise<Ground>;
  readonly commands: readonly (readonly string[])[];
  /** Behind each of them. */
  readonly typed: readonly string[];
  /** After a kill of the first command the next follows at once, instead of the same again. */
  readonly isTakenBack?: true;
  /** Exit codes where nothing is killed; 0 unless said. */
  readonly exits?: readonly number[];
  /** Agents that may be away at any moment. */
  readonly atOnce: number;
  /** Why something that nobody chose is so now. */
  readonly broken: (now: Moment, told: Told) => string | undefined;
  /** What status names after a kill. */
  readonly left: (now: Moment) => readonly RegExp[];
  readonly end: Pick<Moment, 'strategy' | 'fresh' | 'controllers' | 'names'> & Partial<Record<'typha' | 'renaming', string | undefined>>;
}

export type StoryName = keyof typeof STORIES;

const CANARY = 'node-02';
const SOAK_MS = 60_000;
const HELD = { type: 'OnDelete' } as const;
const NODES = ['node-01', 'node-02', 'node-03'];
const YES = ['--yes'] as const;
const CALICO = [...YES, '--profile', 'calico', '--release', CALICO_TARGET] as const;
const HOOKS = ['--before-node', 'true', '--after-node', 'true'] as const;

const NEXT = /Next: kubectl/;
const STRATEGY = /update strategy of DaemonSet\/kube-system\/\S+, for this run alone: /;

const isHeld = ({ strategy }: Moment): boolean => strategy.type === 'OnDelete';
const strangers = ({ fresh }: Moment, chosen: ReadonlySet<string>): readonly string[] => fresh.filter((node) => !chosen.has(node));
const strategyLeft = ({ isOwnStrategy }: Moment): readonly RegExp[] => (isOwnStrategy ? [NEXT] : [NEXT, STRATEGY]);

/** While the agents are held only those of the canary are new; the others follow after the soak, which a resumed run begins again. */
function brokenCanary(now: Moment, { replaced, begun }: Told): string | undefined {
  if (isHeld(now)) return strangers(now, new Set([CANARY])).length > 0 ? 'nobody chose it' : undefined;
  if (!now.isNew) return undefined;
  const since = Math.max(replaced.get(CANARY) ?? Number.POSITIVE_INFINITY, begun);
  return [...replaced].some(([node, at]) => node !== CANARY && at >= begun && at - since < SOAK_MS)
    ? 'before the end of the soak'
    : undefined;
}

/** Beside the new template the agents are held until all of them are new, and none is that no command was run before. */
function brokenHooks(now: Moment, { prepared }: Told): string | undefined {
  if (strangers(now, prepared).length > 0) return 'no command was run before';
  return now.isNew && now.old.length > 0 && !isHeld(now) ? 'not held' : undefined;
}

/** Nor is any other agent replaced by the rollback. */
function brokenBack({ uids }: Moment, { first }: Told): string | undefined {
  return Object.entries(uids).some(([node, uid]) => node !== CANARY && uid !== first[node]) ? 'nobody chose it' : undefined;
}

/** The agents of another release are replaced at the pace of this run. */
function brokenPace({ isNew, old, strategy }: Moment): string | undefined {
  return isNew && old.length > 0 && strategy.rollingUpdate?.maxUnavailable !== 3 ? 'not the pace of this run' : undefined;
}

function brokenAgents({ isOwnStrategy, typha, controllers }: Moment, { command }: Told): string | undefined {
  if (!isOwnStrategy) return 'not the strategy that somebody had set';
  return command === 0 && [typha, controllers].includes('new') ? 'not to be touched yet' : undefined;
}

const STORED = 'default.mine';
const RENAMED = 'mine';

function brokenNames({ isOwnStrategy, controllers, renaming, names }: Moment, { command }: Told): string | undefined {
  if (!isOwnStrategy) return 'not the strategy that somebody had set';
  if (command > 0) return undefined;
  if (!names.includes(STORED)) return 'renamed';
  return controllers === 'new' && renaming !== 'Disabled' ? 'not held' : undefined;
}

const netsvcEnd = { strategy: OWN, fresh: NODES, typha: undefined, controllers: 'new', renaming: undefined, names: [] } as const;
const sourceEnd = { ...netsvcEnd, fresh: [], controllers: 'old' } as const;
const calicoEnd = { ...netsvcEnd, fresh: NODES.slice(0, 2), typha: 'new', names: [RENAMED] } as const;

/** For each command that leaves something behind for a while. */
export const STORIES = {
  'a canary that goes well': {
    ...{ open: netsvcGround, typed: YES, atOnce: 2, broken: brokenCanary, left: strategyLeft, end: netsvcEnd },
    commands: [['apply', '--canary', CANARY, '--soak', '1m']],
  },
  'a canary that fails': {
    ...{ open: () => netsvcGround(CANARY), typed: YES, atOnce: 1, broken: brokenCanary, left: strategyLeft, exits: [5] },
    commands: [['apply', '--canary', CANARY, '--soak', '1m', '--timeout', '2m']],
    end: { ...netsvcEnd, strategy: { ...OWN, ...HELD }, fresh: [CANARY], controllers: 'old' },
  },
  'a canary with commands around each node, and its commit': {
    ...{ open: netsvcGround, typed: [...YES, ...HOOKS], atOnce: 2, broken: brokenHooks, left: strategyLeft, end: netsvcEnd },
    ...{ commands: [['run', '--canary', CANARY], ['commit']], exits: [5, 0] },
  },
  'commands around each node': {
    ...{ open: netsvcGround, typed: [...YES, ...HOOKS], atOnce: 2, broken: brokenHooks, left: strategyLeft, end: netsvcEnd },
    commands: [['run']],
  },
  '--max-unavailable': {
    ...{ open: netsvcGround, typed: YES, atOnce: 3, broken: brokenPace, left: strategyLeft, end: netsvcEnd },
    commands: [['run', '--max-unavailable', '3']],
  },
  '--max-unavailable, taken back': {
    ...{ open: netsvcGround, typed: YES, atOnce: 3, broken: brokenPace, left: strategyLeft, isTakenBack: true, end: sourceEnd },
    commands: [['run', '--max-unavailable', '3'], ['rollback']],
  },
  'a canary, taken back': {
    ...{ open: netsvcGround, typed: YES, atOnce: 1, broken: brokenBack, left: strategyLeft, isTakenBack: true, end: sourceEnd },
    ...{ commands: [['run', '--canary', CANARY], ['rollback']], exits: [5, 0] },
  },
  '--until agents, and its commit': {
    ...{ open: calicoGround, typed: CALICO, atOnce: 2, broken: brokenAgents, left: strategyLeft, end: calicoEnd },
    commands: [['run', '--until', 'agents'], ['commit']],
  },
  '--until controllers, and its commit': {
    ...{ open: calicoGround, typed: CALICO, atOnce: 2, broken: brokenNames, end: calicoEnd },
    left: ({ renaming }: Moment) => (renaming === 'Disabled' ? [NEXT, /names of policies|renaming of stored policies/] : [NEXT]),
    commands: [['run', '--until', 'controllers'], ['commit']],
  },
} satisfies Readonly<Record<string, Story>>;

async function netsvcGround(crashing?: string): Promise<Ground> {
  const scenario = await installedSandbox({ nodes: NODES.length, cli: false });
  if (crashing !== undefined) scenario.cluster.nodes.fault(crashing, 'crash-loop');
  return withOwnStrategy({ scenario, profile: waved });
}

/** With Typha, and with a policy that the new controllers rename. */
async function calicoGround(): Promise<Ground> {
  const ground = await groundOf('typha');
  const { cluster } = ground.scenario;
  const apiVersion = `${ground.profile.crdGroup}/v1`;
  const spec = { controllers: {} };
  put(cluster, { apiVersion, kind: 'KubeControllersConfiguration', metadata: { name: 'default' }, spec } as KubeObject);
  const annotations = { [`${ground.profile.apiGroup}/metadata`]: JSON.stringify({ name: RENAMED }) };
  put(cluster, { apiVersion, kind: 'GlobalNetworkPolicy', metadata: { name: STORED, annotations }, spec: {} } as KubeObject);
  return withOwnStrategy(ground);
}

async function withOwnStrategy(ground: { readonly scenario: Ground['scenario']; readonly profile: Profile }): Promise<Ground> {
  const { name, namespace = '' } = agentsOf(ground.scenario, ground.profile).metadata;
  const patch = [{ op: 'replace', path: '/spec/updateStrategy', value: OWN }] as const;
  await ground.scenario.cluster.patch(K.DaemonSet, { apiVersion: 'apps/v1', kind: 'DaemonSet', name, namespace }, patch, 'kubectl-edit');
  // Its controller has seen that.
  await ground.scenario.clock.sleep(60_000);
  return ground;
}
