import type { Context } from '../../kernel/context.ts';
import { Fault } from '../../kernel/fault.ts';
import { isRecord, mapAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { type PathPart, shapeOf } from '../survey/index.ts';
import { hasSurge, marked, strategyOf } from './own-strategy.ts';

declare module '../../kernel/context.ts' {
  interface Options {
    /** Agents that may be unavailable at a time, in this run alone: a number, or a percentage with its sign. */
    readonly maxUnavailable?: number | string;
  }
}

/** The DaemonSet with the pace of this run; undefined where its own is meant. Throws Fault('usage') where no controller follows one. */
export function paced(
  agents: KubeObject,
  { options: { maxUnavailable }, goal }: Pick<Context, 'options' | 'goal'>,
): KubeObject | undefined {
  if (maxUnavailable === undefined) return undefined;
  if (shapeOf(agents).spec?.updateStrategy?.type === 'OnDelete')
    throw new Fault('usage', '--max-unavailable has no effect: the update strategy of the agents is OnDelete', ['leave it out']);
  const strategy = strategyOf(agents);
  // The server takes one of the two.
  const rollingUpdate = { ...mapAt(strategy, 'rollingUpdate'), maxUnavailable, ...(hasSurge(strategy) ? { maxSurge: 0 } : {}) };
  return marked(agents, { ...(isRecord(strategy) ? strategy : {}), type: 'RollingUpdate', rollingUpdate }, goal);
}

/** Flags for which this program replaces every agent itself: commands are run between them, or they or a broken connection may stop it. */
export function drivenBy({ options: { userCommands = [], probeNetwork } }: Pick<Context, 'options'>): readonly string[] {
  return [...userCommands, ...(probeNetwork?.isStrict ? ['probe-strict'] : [])];
}

export const isDriven = (context: Pick<Context, 'options'>): boolean => drivenBy(context).length > 0;

/** Of those and the canary, what nobody but this program may replace agents for: a probe alone only watches. */
const needsOwnPace = (context: Pick<Context, 'options'>): readonly string[] => [
  ...(context.options.canary === undefined ? [] : ['canary']),
  ...drivenBy(context).filter((name) => name !== 'probe'),
];

/** Flags by which agents are replaced otherwise than by their DaemonSet alone. */
export const flagsOfPace = (context: Pick<Context, 'options'>): readonly string[] => [
  ...needsOwnPace(context),
  ...(context.options.maxUnavailable === undefined ? [] : ['max-unavailable']),
];

/** Throws Fault('usage') where the user replaces the agents: a canary would have to be ended by him, too. */
export function refuseOnDelete(agents: KubeObject, context: Pick<Context, 'options'>): void {
  if (shapeOf(agents).spec?.updateStrategy?.type !== 'OnDelete') return;
  const [flag] = needsOwnPace(context);
  if (flag === undefined) return;
  throw new Fault('usage', `--${flag} is not possible: the update strategy of the agents is OnDelete, so you replace them yourself`, [
    'leave it out, or give the DaemonSet the update strategy RollingUpdate',
  ]);
}

/** An operator writes the DaemonSet and would put its own strategy back at once: such flags are refused before anything is written. */
export function refusingPace(part: PathPart): PathPart {
  return {
    ...part,
    async open(sources, context, installation) {
      const [flag] = needsOwnPace(context);
      if (flag !== undefined) throw ofOperator(flag, installation.path);
      return part.open(sources, context, installation);
    },
  };
}

function ofOperator(flag: string, path: string): Fault {
  return new Fault(
    'usage',
    `--${flag} is not possible on an installation by ${path}: its operator replaces every agent by itself, and whatever holds it lets go of all agents if this run is killed right after the operator's write`,
    ['leave it out; --max-unavailable 1 is the slowest pace'],
  );
}
