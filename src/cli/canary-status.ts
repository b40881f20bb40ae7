import { counted, timeText } from '../kernel/counted.ts';
import { K } from '../kernel/kinds.ts';
import type { LockHolder } from '../kernel/ports.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { agentOf, unlessRefused } from './agents-strategy.ts';
import type { CanaryStatus, StatusDocument } from './documents.ts';
import { parseDuration } from './duration.ts';
import type { Session } from './session.ts';

/** How far a canary is, as the cluster has it. An account that may not list the pods is told nothing. */
export async function readCanaryStatus(
  { composition: { cluster, clock } }: Session,
  strategy: StatusDocument['strategy'],
  record: RunRecord | undefined,
  holder: LockHolder | undefined,
): Promise<CanaryStatus | null> {
  const agent = agentOf(record);
  if (!strategy?.held || !record || !agent) return null;
  const { name, namespace = '' } = strategy.object;
  const workload = await cluster.get(K.DaemonSet, name, namespace);
  if (!workload) return null;
  const [{ podFacts }, { leanPod }, { selectorOf, selectorText }, { judgePod }, { ofTemplate }, { containersOf }] = await Promise.all([
    import('../kube/pod-facts.ts'),
    import('../kube/lean-objects.ts'),
    import('../kube/selector.ts'),
    import('../kube/judge-pod.ts'),
    import('../kube/revision.ts'),
    import('../kube/workload.ts'),
  ]);
  const labelSelector = selectorText(selectorOf(workload));
  const pods = await cluster.list(K.Pod, { namespace, labelSelector, keep: leanPod }).catch(unlessRefused);
  const image = containersOf(workload).find((one) => one.name === agent.container)?.image;
  if (!pods || image === undefined) return null;
  const target = { ...agent, image };
  const facts = pods.map(podFacts);
  const [isOfTemplate, around] = [ofTemplate(workload, facts), { target, nodes: new Map(), now: clock.now().getTime() }];
  const judged = facts.map((pod) => ({ pod, is: judgePod(pod, around, isOfTemplate(pod)) }));
  const fresh = judged.filter(({ pod, is }) => is.phase === 'new' || (is.phase !== 'old' && !pod.terminating));
  const ready = fresh.filter(({ is }) => is.phase === 'new');
  const since = Math.max(...ready.flatMap(({ pod }) => pod.readyAt ?? []), holder ? Date.parse(holder.acquiredAt) : 0);
  const soak = holder ? flagIn(record, 'soak') : undefined;
  return {
    ready: ready.map(({ is }) => is.node).toSorted(),
    notReady: fresh.filter(({ is }) => is.phase !== 'new').map(({ is }) => ({ node: is.node, because: is.why })),
    of: new Set(facts.map(({ node }) => node)).size,
    ...(ready.length > 0 && since > 0 ? { since: new Date(since).toISOString() } : {}),
    ...(soak === undefined ? {} : { soakMs: parseDuration(soak, 'soak') }),
  };
}

/** What the command line of the run said. Whoever may write the record chose it: it is shown, and nothing else. */
export function flagIn({ flags }: RunRecord, name: string): string | undefined {
  const words: readonly unknown[] = Array.isArray(flags) ? flags : [];
  const word = words.find((one) => typeof one === 'string' && one.startsWith(`--${name}=`));
  const value = typeof word === 'string' ? word.slice(name.length + 3) : undefined;
  return value !== undefined && /^[\w.]{1,20}$/.test(value) ? value : undefined;
}

export function canaryLines({ canary }: StatusDocument, now: Date): readonly string[] {
  if (!canary) return [];
  const { ready, notReady, of, since, soakMs } = canary;
  const names = ready.length === 0 ? '' : ` (${ready.slice(0, 5).join(', ')}${ready.length > 5 ? ` and ${ready.length - 5} more` : ''})`;
  const forMs = since === undefined ? 0 : Math.max(0, now.getTime() - Date.parse(since));
  const age = since === undefined ? '' : `, all of them for ${timeText(forMs)}`;
  return [
    `canary: ${ready.length} of ${counted(of, 'agent')} replaced and ready${names}${age}`,
    ...notReady.slice(0, 5).map(({ node, because }) => `  ${node}: replaced, not ready: ${because}`),
    ...(soakMs === undefined ? [] : [`  soak: ${timeText(Math.min(forMs, soakMs))} of ${timeText(soakMs)}`]),
  ];
}
