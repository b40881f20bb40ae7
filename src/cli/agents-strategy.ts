import { K } from '../kernel/kinds.ts';
import { type KubeObject, refOf, refText } from '../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../kernel/ports.ts';
import type { WorkloadName } from '../kernel/rollout.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { type Said, text } from '../kernel/step.ts';
import { oneLine } from '../kernel/visible.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { type CarriedFlag, oursWith, resumeCommand } from './carried.ts';
import type { StatusDocument } from './documents.ts';
import type { Session } from './session.ts';

/**
 * The strategy that an unfinished run gave the agents for a while, as the cluster has it: without a record, of whichever agents bear its mark.
 * An account that may not look is told nothing.
 */
export async function readStrategy(
  { composition: { cluster } }: Session,
  record: RunRecord | undefined,
): Promise<StatusDocument['strategy']> {
  const agent = agentOf(record);
  if (record && (!agent || record.finishedAt !== undefined)) return null;
  const asked = agent ? cluster.get(K.DaemonSet, agent.name, agent.namespace) : readAgents(cluster);
  const found = await asked.catch((thrown: unknown) => {
    if (thrown instanceof ApiFailure) return undefined;
    throw thrown;
  });
  const { isHeld, isMarked, liveStrategyText } = await import('../features/canary/own-strategy.ts');
  const live = [found ?? []].flat().find(isMarked);
  return live ? { object: refOf(live), is: liveStrategyText(live), held: isHeld(live) } : null;
}

/** Of any installation by a manifest that this program knows. */
async function readAgents(cluster: Pick<ClusterReader, 'list'>): Promise<readonly KubeObject[]> {
  const known = shippedProfiles.flatMap(({ variants }) => variants.map(({ agent }) => refText(agent)));
  const sets = await cluster.list(K.DaemonSet, { namespace: 'kube-system' });
  return sets.map((set) => ({ ...set, kind: K.DaemonSet.kind })).filter((set) => known.includes(refText(refOf(set))));
}

/** The agents of the installation that a run upgrades, by its record. */
export function agentOf(record: RunRecord | undefined): WorkloadName | undefined {
  const variants = shippedProfiles.find(({ name }) => name === record?.profile)?.variants ?? [];
  return variants.find(({ id }) => id === record?.variant)?.agent;
}

/** While a run is at work, that is as it should be. */
export function strategyLines({ strategy, lock, record }: StatusDocument, carried: readonly CarriedFlag[]): readonly Said[] {
  if (!strategy) return [];
  if (!record) {
    const then = text`The next run gives it the strategy of the release: ${oursWith('run', carried)}`;
    return [text`${refText(strategy.object)} has the update strategy ${oneLine(strategy.is)} of a run whose record is lost. ${then}`];
  }
  const what = `update strategy of ${refText(strategy.object)}, for this run alone: ${oneLine(strategy.is)}`;
  if (lock) return [what];
  if (!strategy.held) return [text`${what}. Its own comes back with the next run: ${resumeCommand(carried, record)}`];
  const rest = text`All other agents follow with: ${oursWith('commit', carried)}`;
  return [text`${what}: new nodes, and agents that somebody deletes, get the release that the run installs. ${rest}`];
}
