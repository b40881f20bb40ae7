import type { Command } from '../kernel/command.ts';
import { isOperated } from '../kernel/installation.ts';
import { intentWords } from '../kernel/intent.ts';
import { K } from '../kernel/kinds.ts';
import { apiVersionOf, type KubeObject, refOf, refText } from '../kernel/object.ts';
import { ApiFailure, type ClusterReader } from '../kernel/ports.ts';
import { imageRelease, sameRelease } from '../kernel/release.ts';
import type { WorkloadName } from '../kernel/rollout.ts';
import { type RunRecord, UNKNOWN_PATH, waitsForUser } from '../kernel/run-record.ts';
import { type Said, text } from '../kernel/step.ts';
import { oneLine } from '../kernel/visible.ts';
import { isOverridden, pacedIn, rollingIn, rollingText } from '../kube/paced.ts';
import { shippedProfiles } from '../profiles/index.ts';
import { type CarriedFlag, oursWith, resumeCommand } from './carried.ts';
import type { StatusDocument } from './documents.ts';
import { hasPace } from './recorded-flags.ts';
import type { Session } from './session.ts';

/**
 * The strategy that a run gave the agents for a while, as the cluster has it: without a record, of whichever agents bear its mark.
 * An account that may not look is told nothing.
 */
export async function readStrategy(
  { composition: { cluster, records }, context }: Session,
  record: RunRecord | undefined,
): Promise<StatusDocument['strategy']> {
  // An operator's agents come to their end without the run that paced them, and a look may have ended its record.
  const paced = mayBeOperated(record) ? await readPaced(cluster, record) : null;
  if (paced || record?.finishedAt !== undefined) return paced;
  const agent = agentOf(record);
  if (record && !agent) return null;
  const asked = agent ? cluster.get(K.DaemonSet, agent.name, agent.namespace) : readAgents(cluster);
  const found = await asked.catch(unlessRefused);
  const own = await import('../features/canary/own-strategy.ts');
  const { isMarked, isOnDelete, liveStrategyText } = own;
  const live = [found ?? []].flat().find((one) => isMarked(one) || (record !== undefined && (waitsForUser(record) || isOnDelete(one))));
  if (!live) return null;
  // Somebody may have removed our mark: then only what was kept tells, or that the run chose nodes.
  const isKept = async () => {
    const kept = await own.readOwnStrategies(records, record, context, [live]).catch(unlessRefused);
    return kept ? own.isStillHeld(live, kept) : record?.canary !== undefined;
  };
  const [held, other] = [own.isHeldBy(live, record) || (isOnDelete(live) && (await isKept())), await otherRelease(live, record)];
  const { selectorOf, selectorText } = await import('../kube/selector.ts');
  return {
    object: refOf(live),
    is: liveStrategyText(live),
    held,
    ...(isOnDelete(live) && !held ? { isForeign: true } : {}),
    selector: selectorText(selectorOf(live)),
    ...(other === undefined ? {} : { release: other }),
  };
}

/** The release of its pods, where the run installs another: somebody has put it there. */
async function otherRelease(live: KubeObject, record: RunRecord | undefined): Promise<string | undefined> {
  const { containersOf } = await import('../kube/workload.ts');
  const image = containersOf(live).find(({ name }) => name === agentOf(record)?.container)?.image;
  const release = image === undefined ? undefined : imageRelease(image);
  return record && release !== undefined && !sameRelease(release, record.intent.to) ? release : undefined;
}

/** The recorded run upgrades what an operator installs, as far as it is known. */
export function mayBeOperated(record: RunRecord | undefined): boolean {
  const { path = UNKNOWN_PATH } = record ?? {};
  return path === UNKNOWN_PATH || isOperated({ path });
}

/** What an account may not look at is left out. */
export function unlessRefused(thrown: unknown): undefined {
  if (!(thrown instanceof ApiFailure)) throw thrown;
}

/** What an operator takes the pace of the agents from. */
async function readPaced(cluster: Pick<ClusterReader, 'list'>, record: RunRecord | undefined): Promise<StatusDocument['strategy']> {
  const known = shippedProfiles.find(({ name, operator }) => operator.agentStrategy && (!record || record.profile === name))?.operator;
  if (!known?.agentStrategy) return null;
  const { agentStrategy, installationKind: kind } = known;
  const all = (await cluster.list({ ...kind, namespaced: false }).catch(unlessRefused)) ?? [];
  const live = all.find((one) => pacedIn(one));
  const paced = live && pacedIn(live);
  if (!paced) return null;
  const path = ['spec', ...agentStrategy, 'rollingUpdate'];
  const is = `maxUnavailable ${rollingText(rollingIn(live, path))}`;
  const object = { ...refOf(live), apiVersion: apiVersionOf(kind), kind: kind.kind };
  return { object, is, held: false, ...(isOverridden(live, path, paced) ? { overridden: true } : {}) };
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

function paceLines(
  { strategy, lock, record }: Pick<StatusDocument, 'strategy' | 'lock' | 'record'>,
  carried: readonly CarriedFlag[],
): readonly Said[] {
  if (!strategy) return [];
  const place = `${oneLine(strategy.is)} in ${refText(strategy.object)}`;
  const next = record ? resumeCommand(carried, record) : oursWith('run', carried);
  const what = strategy.overridden ? `${place}: somebody has set it over that of this run, so it stays` : `${place}, for this run alone`;
  if (lock) return [what];
  if (strategy.overridden) return [text`${what}. The annotation goes with the next run: ${next}`];
  return [text`${what}. Its own comes back with the next run: ${next}`];
}

const NOT_HELD = 'not held any more, so the DaemonSet replaces the other agents by itself';

/** While a run is at work, that is as it should be. */
export function strategyLines({ strategy, canary, lock, record }: StatusDocument, carried: readonly CarriedFlag[]): readonly Said[] {
  if (!strategy) return [];
  if (strategy.object.kind !== K.DaemonSet.kind) return paceLines({ strategy, lock, record }, carried);
  if (!record) {
    const then = text`The next run gives it the strategy of the release: ${oursWith('run', carried)}`;
    return [text`${refText(strategy.object)} has the update strategy ${oneLine(strategy.is)} of a run whose record is lost. ${then}`];
  }
  const what = `update strategy of ${refText(strategy.object)}, for this run alone: ${oneLine(strategy.is)}`;
  if (strategy.isForeign)
    return [
      `${refText(strategy.object)} has the update strategy ${oneLine(strategy.is)}, not of this run: an agent is replaced when somebody deletes it`,
    ];
  if (lock) return [what];
  const commit = oursWith('commit', carried);
  const resumed = resumeCommand(carried, record);
  if (!strategy.held && !waitsForUser(record) && hasPace(record, strategy.is))
    return [text`${what}. Its own comes back with the next run: ${resumed}`];
  if (!strategy.held) {
    const then = waitsForUser(record) ? commit : resumed;
    return [text`${NOT_HELD}: ${refText(strategy.object)} has the update strategy ${oneLine(strategy.is)}. Continue with: ${then}`];
  }
  const { release } = strategy;
  const get = release === undefined ? 'the release that the run installs' : `${release}, which is in its template now`;
  return [text`${what}: new nodes, and agents that somebody deletes, get ${get}${onward({ canary, record }, commit, carried)}`];
}

/** What follows beside agents that are held, where something is to be said of it. */
function onward(
  { canary, record }: Pick<StatusDocument, 'canary'> & { readonly record: RunRecord },
  commit: Command,
  carried: readonly CarriedFlag[],
): Said {
  if (canary && [canary.ready, canary.others ?? [], canary.notReady].every((nodes) => nodes.length === 0)) {
    const again = oursWith(intentWords(record.intent).resumedBy, carried);
    return text`. No agent that is there has its template: ${again.gives('canary') ? again : again.with('--canary', '1')}`;
  }
  if (canary && canary.notReady.length > 0) return '. None follows before each of them is ready';
  return waitsForUser(record) ? text`. All other agents follow with: ${commit}` : '';
}
