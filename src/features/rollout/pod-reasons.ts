import { counted } from '../../kernel/counted.ts';
import { ApiFailure, type ClusterReader } from '../../kernel/ports.ts';
import type { PodPhase, PodProgress, RolloutProgress } from '../../kernel/rollout.ts';
import { means, type Step, says, stepOf } from '../../kernel/step.ts';
import { lastWarning, meaningOf, shortText } from './meanings.ts';

/** A pod that keeps a rollout from its end. */
export interface Lagging extends Pick<PodProgress, 'pod' | 'why' | 'ended' | 'late'> {
  readonly namespace: string;
  /** The container of the service in it. */
  readonly container?: string;
}

/** Of more pods the reasons help nobody. */
const SHOWN = 3;

/** The first pods that keep rollouts from their end, failed ones before late ones. */
export function latePods(progress: readonly RolloutProgress[]): readonly Lagging[] {
  const lagging = progress.filter(({ done }) => !done);
  const those = (phase: PodPhase) =>
    lagging.flatMap(({ pods, target: { namespace, container } }) =>
      pods.filter((one) => one.phase === phase).map((one) => ({ ...one, namespace, container })),
    );
  return [...those('failed'), ...those('updating')].slice(0, SHOWN);
}

/** Events that the server is asked for, of one pod. */
const EVENTS = 50;
/** Of a log: its last lines, and never more bytes. */
const LOG = 'tailLines=20&limitBytes=16384';
/** Lines of a log that are shown. */
const LOG_LINES = 3;

/**
 * The cluster's own reasons for unready pods after a failed wait: last warning event, last lines of a crash-looping container, known
 * messages. Missing rights are reported, other failures are not, as the command with the rest is named anyway.
 */
export async function reasonsOf(cluster: Pick<ClusterReader, 'raw'>, pods: readonly Lagging[]): Promise<readonly Step[]> {
  const told = await Promise.all(pods.map((one) => reasonOf(cluster, one)));
  return [...new Map(told.flat().map((one) => [one.plain, one])).values()];
}

async function reasonOf(
  cluster: Pick<ClusterReader, 'raw'>,
  { namespace, pod, why, ended, late, container: own }: Lagging,
): Promise<readonly Step[]> {
  // A container that runs and is not ready says why in its present log.
  const container = ended ?? (late === 'unready' ? own : undefined);
  const query = `container=${encodeURIComponent(container ?? '')}${ended === undefined ? '' : '&previous=true'}&${LOG}`;
  const path = `${pathOf(namespace)}/pods/${encodeURIComponent(pod)}/log?${query}`;
  const [events, log] = await Promise.all([
    asked(() => eventsOf(cluster, namespace, pod)),
    container === undefined ? undefined : asked(() => cluster.raw(path)),
  ]);
  const event = warningIn(events.text ?? '');
  const lines = lastLines(log?.text ?? '', ended !== undefined);
  const meaning = meaningOf([...(event ? [event] : []), ...lines, why]);
  return [
    ...(event ? [says(`${pod} says: ${shortText(event)}`)] : []),
    ...lines.map((line) => says(`${pod} logs: ${shortText(line)}`)),
    ...(meaning ? [means(meaning)] : []),
    ...(events.isForbidden ? [stepOf(`this account may not read events of namespace ${namespace}: they would say why`)] : []),
    ...(log?.isForbidden ? [stepOf(`this account may not read logs of namespace ${namespace}: they would say why`)] : []),
  ];
}

const pathOf = (namespace: string): string => `/api/v1/namespaces/${encodeURIComponent(namespace)}`;

function eventsOf(cluster: Pick<ClusterReader, 'raw'>, namespace: string, pod: string): Promise<string> {
  const selector = encodeURIComponent(`involvedObject.kind=Pod,involvedObject.name=${pod}`);
  return cluster.raw(`${pathOf(namespace)}/events?fieldSelector=${selector}&limit=${EVENTS}`);
}

/** The newest telling event of a pod, short; undefined where there is none. Throws ApiFailure. */
export async function eventOf(cluster: Pick<ClusterReader, 'raw'>, { namespace, pod }: Lagging): Promise<string | undefined> {
  const event = warningIn(await eventsOf(cluster, namespace, pod));
  return event && shortText(event);
}

async function asked(call: () => Promise<string>): Promise<{ readonly text?: string; readonly isForbidden?: true }> {
  try {
    return { text: await call() };
  } catch (thrown) {
    return thrown instanceof ApiFailure && thrown.status === 403 ? { isForbidden: true } : {};
  }
}

/** `Unhealthy (12 times): Readiness probe failed: …`; a pod without a network and a failed probe before anything else. */
function warningIn(text: string): string | undefined {
  const found = lastWarning(text, TELLING);
  if (found === undefined) return undefined;
  const { reason, count = 0, message } = found;
  return `${reason}${count > 1 ? ` (${counted(count, 'time')})` : ''}: ${message}`;
}

const TELLING: ReadonlySet<unknown> = new Set(['FailedCreatePodSandBox', 'Unhealthy', 'Failed', 'FailedMount', 'FailedScheduling']);

/** The last lines that tell of an error; where none does, the last lines of what has ended. */
function lastLines(text: string, hasEnded: boolean): readonly string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const errors = lines.filter((line) => /error|fatal|panic|fail|forbidden|x509|refus|segfault|GLIBC/i.test(line));
  return (errors.length > 0 || !hasEnded ? errors : lines).slice(-LOG_LINES);
}
