import { K } from '../kernel/kinds.ts';
import { refOf, refText } from '../kernel/object.ts';
import { ApiFailure } from '../kernel/ports.ts';
import type { WorkloadName } from '../kernel/rollout.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { type Said, text } from '../kernel/step.ts';
import { oneLine } from '../kernel/visible.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { type CarriedFlag, oursWith, resumeCommand } from './carried.ts';
import type { StatusDocument } from './documents.ts';
import type { Session } from './session.ts';

/** The strategy that an unfinished run gave the agents for a while, as the cluster has it. An account that may not look is told nothing. */
export async function readStrategy(
  { composition: { cluster } }: Session,
  record: RunRecord | undefined,
): Promise<StatusDocument['strategy']> {
  const agent = agentOf(record);
  if (!agent || record?.finishedAt !== undefined) return null;
  const live = await cluster.get(K.DaemonSet, agent.name, agent.namespace).catch((thrown: unknown) => {
    if (thrown instanceof ApiFailure) return undefined;
    throw thrown;
  });
  const { isHeld, isMarked, liveStrategyText } = await import('../features/canary/own-strategy.ts');
  return live && isMarked(live) ? { object: refOf(live), is: liveStrategyText(live), held: isHeld(live) } : null;
}

/** The agents of the installation that a run upgrades, by its record. */
export function agentOf(record: RunRecord | undefined): WorkloadName | undefined {
  const variants = shippedProfiles.find(({ name }) => name === record?.profile)?.variants ?? [];
  return variants.find(({ id }) => id === record?.variant)?.agent;
}

/** While a run is at work, that is as it should be. */
export function strategyLines({ strategy, lock, record }: StatusDocument, carried: readonly CarriedFlag[]): readonly Said[] {
  if (!strategy) return [];
  const what = `update strategy of ${refText(strategy.object)}, for this run alone: ${oneLine(strategy.is)}`;
  if (lock) return [what];
  if (!strategy.held) return [text`${what}. Its own comes back with the next run: ${resumeCommand(carried, record ?? undefined)}`];
  const rest = text`All other agents follow with: ${oursWith('commit', carried)}`;
  return [text`${what}: new nodes, and agents that somebody deletes, get the release that the run installs. ${rest}`];
}
