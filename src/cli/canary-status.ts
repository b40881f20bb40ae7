import { counted, firstOf, timeText } from '../kernel/counted.ts';
import { K } from '../kernel/kinds.ts';
import type { LockHolder } from '../kernel/ports.ts';
import { imageRelease, sameRelease } from '../kernel/release.ts';
import { type RunRecord, waitsForUser } from '../kernel/run-record.ts';
import type { PodFacts } from '../kube/pod-facts.ts';
import { agentOf, mayBeOperated, unlessRefused } from './agents-strategy.ts';
import type { CanaryStatus, StatusDocument } from './documents.ts';
import { parseDuration } from './duration.ts';
import { flagIn } from './recorded-flags.ts';
import type { Session } from './session.ts';

/** How far a canary is, as the cluster has it. An account that may not list the pods is told nothing. */
export async function readCanaryStatus(
  { composition: { cluster, clock } }: Session,
  strategy: StatusDocument['strategy'],
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
): Promise<CanaryStatus | null> {
  const agent = agentOf(record);
  // Whoever has put another release into the template has ended the canary: its own pods would be the old ones.
  if (!record || !agent || strategy?.release !== undefined || record.finishedAt !== undefined) return null;
  const { name, namespace } = agent;
  const workload = await cluster.get(K.DaemonSet, name, namespace).catch(unlessRefused);
  if (!workload) return null;
  const [
    { nodeFacts, podFacts, podsMadeBy },
    { leanPod, slimNode },
    { selectorOf, selectorText },
    { judgePod },
    { isMadeBefore, ofTemplate },
    { containersOf, shapeOf },
    { onItsNode },
    { isOnDelete },
  ] = await Promise.all([
    import('../kube/pod-facts.ts'),
    import('../kube/lean-objects.ts'),
    import('../kube/selector.ts'),
    import('../kube/judge-pod.ts'),
    import('../kube/revision.ts'),
    import('../kube/workload.ts'),
    import('../features/rollout/index.ts'),
    import('../features/canary/own-strategy.ts'),
  ]);
  const image = containersOf(workload).find((one) => one.name === agent.container)?.image;
  const isStopped = strategy && (strategy.held || waitsForUser(record));
  if (image === undefined || !(isStopped || (!isOnDelete(workload) && isRolling(record, image, shapeOf(workload).status)))) return null;
  const labelSelector = selectorText(selectorOf(workload));
  const pods = await cluster.list(K.Pod, { namespace, labelSelector, keep: leanPod }).catch(unlessRefused);
  if (!pods) return null;
  const target = { ...agent, image };
  const nodes = (await cluster.list(K.Node, { keep: slimNode }).catch(unlessRefused)) ?? [];
  const known = new Map(nodes.map((node) => [node.metadata.name, nodeFacts(node)]));
  const facts = podsMadeBy(target, pods.map(podFacts));
  const [isOfTemplate, around] = [ofTemplate(workload, facts), { target, nodes: new Map(), now: clock.now().getTime() }];
  // In a rollback the template is that of the agents which were never upgraded.
  const isUntouched = (pod: PodFacts) => record.intent.takesBack !== undefined && isMadeBefore(workload, pod);
  const judged = facts
    .map((pod) => ({ pod, is: onItsNode(judgePod(pod, around, isOfTemplate(pod)), known) }))
    .filter(({ pod, is }) => is.phase === 'old' || !isUntouched(pod));
  const fresh = judged.filter(({ pod, is }) => is.phase === 'new' || (is.phase !== 'old' && !pod.terminating));
  // By the record alone: the cluster does not tell who deleted an agent.
  const isAlone = strategy?.held === true && flagIn(record, 'canary', /./) !== undefined && !isSoakOver(record, holder, clock.now());
  const chosen = isAlone && record.canary ? new Set(record.canary) : undefined;
  const isChosen = (node: string) => chosen?.has(node) ?? true;
  const [ready = [], others = []] = [true, false].map((is) =>
    fresh.filter(({ is: { phase, node } }) => phase === 'new' && isChosen(node) === is),
  );
  const since = Math.max(...ready.flatMap(({ pod }) => pod.readyAt ?? []), holder ? Date.parse(holder.acquiredAt) : 0);
  const notReady = fresh
    .filter(({ is }) => is.phase !== 'new')
    .map(({ is }) => ({ node: is.node, because: is.why, ...(isChosen(is.node) ? {} : { isOther: true }) }));
  const withAgent = new Set(judged.map(({ is }) => is.node));
  return {
    ready: namesOf(ready),
    ...(others.length === 0 ? {} : { others: namesOf(others) }),
    notReady,
    of: withAgent.size,
    ...(isAlone ? { isCanary: true } : {}),
    ...(ready.length > 0 && since > 0 ? { since: new Date(since).toISOString() } : {}),
  };
}

/** The DaemonSet counts them itself: all are listed only where some are still to be replaced, or not ready. */
function isRolling(record: RunRecord, image: string, status: Readonly<Record<string, number | undefined>> = {}): boolean {
  const release = imageRelease(image);
  const isApplied = release !== undefined && sameRelease(release, record.intent.to) && !mayBeOperated(record);
  const { desiredNumberScheduled = 0, updatedNumberScheduled = 0, numberReady = 0 } = status;
  return isApplied && Math.min(updatedNumberScheduled, numberReady) < desiredNumberScheduled;
}

const namesOf = (agents: readonly { readonly is: { readonly node: string } }[]) => agents.map(({ is }) => is.node).toSorted();

/** Then whoever is at work replaces the others. */
function isSoakOver(record: Pick<RunRecord, 'stages'>, holder: LockHolder | undefined, now: Date): boolean {
  const watch = watchOf(record, holder);
  return watch !== undefined && now.getTime() - Date.parse(watch.since) >= watch.ms;
}

/** One of an earlier command of the run is no longer counted. */
const watchOf = ({ stages }: Pick<RunRecord, 'stages'>, holder: LockHolder | undefined) =>
  stages.findLast((one) => holder !== undefined && one.watch?.by === holder.identity)?.watch;

/** By the record: the soak of a canary, or the one after Typha. */
export function soakOf(
  record: Pick<RunRecord, 'stages' | 'flags'> | undefined,
  holder: LockHolder | undefined,
  canary: CanaryStatus | null,
  now: Date,
): StatusDocument['soak'] {
  if (!record) return null;
  if (!holder) return cutSoak(record, canary, now);
  const watch = watchOf(record, holder);
  if (watch) return isSoakOver(record, holder, now) ? null : { since: watch.since, ms: watch.ms };
  const ms = canary?.isCanary ? durationOf(flagIn(record, 'soak')) : undefined;
  return ms === undefined ? null : { ms };
}

/** Of a command that was killed. Once its time has passed, only agents that are still alone tell that it was not over. */
function cutSoak({ stages }: Pick<RunRecord, 'stages'>, canary: CanaryStatus | null, now: Date): StatusDocument['soak'] {
  const { watch } = stages.findLast(({ state }) => state === 'interrupted') ?? {};
  if (!watch) return null;
  const isAlone = canary?.isCanary === true && canary.others === undefined;
  return isAlone || now.getTime() - Date.parse(watch.since) < watch.ms ? { ms: watch.ms, isCut: true } : null;
}

/** Undefined for what no run has written. */
function durationOf(soak: string | undefined): number | undefined {
  try {
    return soak === undefined ? undefined : parseDuration(soak, 'soak');
  } catch {
    return undefined;
  }
}

export function canaryLines({ canary, soak, record, strategy }: StatusDocument, now: Date, isWide: boolean): readonly string[] {
  const some = (all: readonly string[]) => firstOf(all, isWide ? all.length : 5);
  const since = (from: string) => timeText(Math.max(0, now.getTime() - Date.parse(from)));
  const after = soak?.isCut ? CUT : LATER;
  const watched =
    soak && `soak: ${soak.since === undefined ? `${timeText(soak.ms)}, ${after}` : `${since(soak.since)} of ${timeText(soak.ms)}`}`;
  if (!canary) return watched ? [watched] : [];
  const { ready, others = [], notReady, of, isCanary } = canary;
  const names = ready.length === 0 ? '' : ` (${some(ready)})`;
  const age = canary.since === undefined || notReady.length > 0 ? '' : `, all of them for ${since(canary.since)}`;
  const isRest = ready.length + others.length + notReady.length < of;
  const by = !isRest || strategy?.held || !record || waitsForUser(record) ? '' : '; the DaemonSet replaces the others by itself';
  // A run that ended early after its soak had begun with the others.
  const later = record && flagIn(record, 'soak') !== undefined ? 'replaced after the canary, ' : '';
  return [
    `${isCanary ? 'canary' : 'agents'}: ${ready.length} of ${counted(of, 'agent')} replaced and ready${names}${age}${by}`,
    ...(others.length === 0 ? [] : [`  besides: ${some(others)}, new and ready: ${later}joined since, or the agent was deleted`]),
    ...notReady
      .slice(0, isWide ? undefined : 5)
      .map(({ node, because, isOther }) => `  ${node}: ${isOther ? 'new, though not chosen' : 'replaced'}, not ready: ${because}`),
    ...(watched ? [`  ${watched}`] : []),
  ];
}

/** What the soak waits for. */
const LATER = 'counted once all chosen agents are ready';

/** What becomes of it. */
const CUT = 'not over: it begins again in a resumed run';
