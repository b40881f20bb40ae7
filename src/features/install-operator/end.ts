import type { Action } from '../../kernel/action.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import type { Sources } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { keepConnections, probeAtEnd, probeBetween } from '../network-probe/index.ts';
import type { UpgradeWaits } from '../ownerrefs/index.ts';
import { readNodes, waitLimit } from '../rollout/index.ts';
import { attempt, type PathPart, pathPart } from '../survey/index.ts';
import { type OperatorImageOf, readExpectation } from './expectation.ts';
import type { OperatorLag, OperatorTarget } from './operator-causes.ts';
import { operatorLags } from './operator-verdict.ts';
import { readOperatorView } from './read-operator.ts';
import { readSettledFacts } from './settled-facts.ts';
import { readySince, settledLags } from './settled-rule.ts';
import type { EndExpected } from './wait-end.ts';

interface OperatorEndFacts {
  readonly until: EndExpected;
  readonly nodes: number;
}

/** The operator takes over only once the old one's lease has run out, and an API server that moves takes its time, in milliseconds. */
export const OPERATOR_MS = 300_000;

/** What these warn of is over at the end: the order of the agents' update, other registries, the namespace of the old API server. */
const OVER = ['NS-405', 'NS-606', 'NS-621'];

/**
 * The wait where an operator upgrades the components to the target (§4.2, §4.3): a rule over everything that it writes, held for a
 * while. It is never skipped: one look at green statuses proves nothing.
 */
export function operatorEnd(imageOf: OperatorImageOf): PathPart {
  return pathPart<OperatorEndFacts>({
    checks: [],
    survey: async (sources, context, installation) => ({
      until: await readExpectation(sources, context, installation, imageOf),
      nodes: (await readNodes(sources)).length,
    }),
    plan({ until, nodes }, { goal, options, chain, profile: { operator } }) {
      const timeoutMs = waitLimit(options, nodes, OPERATOR_MS);
      const title = endTitle(goal);
      const effect = { type: 'wait', until, timeoutMs } as const;
      const agents = agentsOf(operator, until.target);
      const end: Action = { id: 'operator', title, ref: '§4.3/2', undo: 'full', effect, cures: OVER.map((check) => ({ check })) };
      const first = probeBetween(agents, { ...until, firstOf: agents }, options, timeoutMs);
      // Of a run that is still to apply, they are there before the operator starts.
      const keep = chain?.pending.includes('apply') ? [] : keepConnections(agents, options, timeoutMs);
      return { actions: [...keep, ...first, end, ...probeAtEnd(agents, options)] };
    },
  });
}

/** Right before another operator starts. */
export function keepBeforeOperator({ profile: { operator }, goal, options }: Context, nodes: number): readonly Action[] {
  const timeoutMs = waitLimit(options, nodes, OPERATOR_MS);
  return keepConnections(agentsOf(operator, { release: goal.release, digests: [] }), options, timeoutMs);
}

const endTitle = ({ release, takesBack }: Context['goal']): string =>
  `wait until the operator has ${takesBack ? 'put every component back' : 'upgraded every component'} to ${release}`;

/** The DaemonSet of the agents, and by what one of the target is recognised. */
export function agentsOf(
  { agent, workloadNamespace }: Profile['operator'],
  { release, digests }: Pick<OperatorTarget, 'release' | 'digests'>,
) {
  return { ...agent, namespace: workloadNamespace, runs: { release, digests } };
}

/** What lags at one look, by the rule of the profile. */
export async function readEndLags(
  { cluster, clock }: Pick<Sources, 'cluster' | 'clock'>,
  until: EndExpected,
): Promise<readonly OperatorLag[]> {
  const now = clock.now().getTime();
  if (until.type === 'operator-end') return operatorLags(await readOperatorView(cluster, until, now), until.part);
  return settledLags(await readSettledFacts(cluster, until, now));
}

/** One look: true if the rule does not hold now, or may not have held for long enough. A look that fails proves nothing. */
export async function stillBringing({ cluster, clock }: Pick<Sources, 'cluster' | 'clock'>, until: EndExpected): Promise<boolean> {
  const looked = await attempt(async () => {
    if (until.type === 'operator-end') return (await readEndLags({ cluster, clock }, until)).length > 0;
    const now = clock.now().getTime();
    const facts = await readSettledFacts(cluster, until, now);
    return settledLags(facts).length > 0 || now + (await cluster.clockSkewMs()) - readySince(facts) < until.holdMs;
  });
  return 'unread' in looked || looked.value;
}

/** Where an operator moves the API server: whether all its pods are new is part of the rule for the end of the whole upgrade (§4.3/2). */
export function operatorsWork(imageOf: OperatorImageOf): UpgradeWaits {
  return async (sources, context, installation) => {
    const until = await readExpectation(sources, context, installation, imageOf);
    const title = endTitle(context.goal);
    return (await stillBringing(sources, until)) ? [{ until, title }] : [];
  };
}

/** What lags by the rule for the end, at one look. */
export function lagsWith(imageOf: OperatorImageOf) {
  return async (sources: Sources, context: Context, installation: Installation): Promise<readonly OperatorLag[]> =>
    readEndLags(sources, await readExpectation(sources, context, installation, imageOf));
}
