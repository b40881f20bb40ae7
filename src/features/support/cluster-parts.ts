import { eachOf } from '../../kernel/each-of.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { named } from '../../kube/lean-objects.ts';
import { type ContainerStatus, type EventFields, podShape } from '../../kube/pod-facts.ts';
import { isOfService, serviceNamespaces } from '../survey/index.ts';
import { type Asking, nameOf, partOf, pathOf, pathPart, podsOf, reasonOf, type SupportPart, supportNode, supportObject } from './pods.ts';

/** Events of a namespace that are kept: the newest. */
const MOST = 500;

/** A line an event, newest last. */
async function eventParts({ cluster }: Asking, namespaces: readonly string[]): Promise<readonly SupportPart[]> {
  return Promise.all(
    namespaces.map((namespace) =>
      partOf(`events/${pathPart(namespace)}.txt`, `events of namespace ${namespace}, at most the newest ${MOST}`, async () => {
        const events = await cluster.list(K.Event, { namespace, keep: lean });
        const lines = events.map((event) => ({ at: timeOf(event), text: lineOf(event) })).toSorted((a, b) => (a.at < b.at ? -1 : 1));
        const newest = lines.slice(-MOST).map(({ text }) => `${text}\n`);
        return newest.length === 0 ? 'no events\n' : newest.join('');
      }),
    ),
  );
}

function lean(event: KubeObject): KubeObject {
  const { type, reason, message, count, firstTimestamp, lastTimestamp, eventTime, series, involvedObject } = event as EventFields;
  const head = named(event, 'creationTimestamp');
  return { ...head, type, reason, message, count, firstTimestamp, lastTimestamp, eventTime, series, involvedObject };
}

function timeOf(event: KubeObject): string {
  const { lastTimestamp, firstTimestamp, eventTime, series } = event as EventFields;
  return series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? firstTimestamp ?? event.metadata.creationTimestamp ?? '';
}

function lineOf(event: KubeObject): string {
  const { type = '', reason = '', message = '', count, series, involvedObject: { kind = '', name = '' } = {} } = event as EventFields;
  const times = count ?? series?.count ?? 1;
  const head = `${timeOf(event)} ${type} ${reason} ${kind}/${name}`;
  return `${head}${times > 1 ? ` (${times} times)` : ''}: ${message.replaceAll('\n', ' ')}`;
}

/** What the cluster says about the service: workloads, pods, logs of those that are not ready, events, nodes. Only reads, and no Secret. */
export async function clusterParts(asking: Asking, profile: Profile): Promise<readonly SupportPart[]> {
  const nodes = partOf('nodes.json', 'nodes: conditions, versions, taints', async () => ({
    items: (await asking.cluster.list(K.Node, { keep: supportNode })).map(supportNode),
  }));
  const found = await Promise.all([K.DaemonSet, K.Deployment].map((kind) => workloadsOf(asking, kind, profile)));
  const workloads = found.flatMap(({ objects }) => objects);
  const { pods, parts } = await podsOf(asking, workloads);
  const own = [...new Set(workloads.flatMap(({ metadata }) => metadata.namespace ?? []))];
  const [events, logs] = await Promise.all([eventParts(asking, own.length > 0 ? own : serviceNamespaces(profile)), logParts(asking, pods)]);
  return [...found.flatMap((one) => one.parts), ...parts, ...logs, ...events, await nodes];
}

interface Found {
  readonly objects: readonly KubeObject[];
  readonly parts: readonly SupportPart[];
}

async function workloadsOf({ cluster }: Asking, kind: typeof K.DaemonSet, profile: Profile): Promise<Found> {
  const list = (namespace?: string) => cluster.list(kind, { ...(namespace ? { namespace } : {}), keep: supportObject });
  const path = `workloads/${kind.kind.toLowerCase()}`;
  try {
    const all = await list().catch(async (thrown: unknown) => {
      // Some accounts may look into the namespaces of the service alone.
      if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown;
      return (await Promise.all(serviceNamespaces(profile).map(list))).flat();
    });
    const objects = all.filter((object) => isOfService(object, profile)).map(supportObject);
    const parts = objects.map((object) => {
      const { namespace = '', name } = object.metadata;
      return { path: `${path}_${pathPart(namespace)}_${pathPart(name)}.yaml`, what: `${kind.kind} ${namespace}/${name}`, content: object };
    });
    return { objects, parts };
  } catch (thrown) {
    const unread = `${reasonOf(thrown)}; so its pods and their logs were not looked for`;
    return { objects: [], parts: [{ path: `${path}s`, what: `${kind.kind}s of the service`, unread }] };
  }
}

const LINES = 500;
/** Of one log, from its end. */
const LOG_BYTES = 256 * 1024;
/** The server cuts at the end of what it sends. */
const ASKED_BYTES = 4 * LOG_BYTES;
const ALL_BYTES = 8 * 1024 * 1024;
const MOST_LOGS = 100;
/** The server reads each log from a node. */
const AT_A_TIME = 4;

interface ContainerLog {
  readonly pod: KubeObject;
  readonly container: string;
  readonly previous: boolean;
}

/** The ends of the logs of containers that are not ready, before a restart as well. What is beyond the limits is listed. */
async function logParts({ cluster }: Asking, pods: readonly KubeObject[]): Promise<readonly SupportPart[]> {
  const logs = pods.flatMap(logsOf);
  let bytes = 0;
  const read = await eachOf(logs.slice(0, MOST_LOGS), AT_A_TIME, async (log): Promise<SupportPart> => {
    const { path, what } = asked(log);
    if (bytes >= ALL_BYTES) return { path, what, unread: 'left out: the logs before it are large enough' };
    const part = await partOf(path, what, async () => ended(await cluster.raw(requestOf(log))));
    bytes += typeof part.content === 'string' ? part.content.length : 0;
    return part;
  });
  const left = logs.length - read.length;
  const rest =
    left > 0 ? [{ path: 'logs/', what: 'further logs', unread: `${left} more are left out: a bundle holds at most ${MOST_LOGS}` }] : [];
  return [...read, ...pods.flatMap(notStarted), ...rest];
}

function statusesOf(pod: KubeObject): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = podShape(pod).status ?? {};
  return [...initContainerStatuses, ...containerStatuses].filter(({ ready }) => ready !== true);
}

function logsOf(pod: KubeObject): readonly ContainerLog[] {
  return statusesOf(pod).flatMap(({ name: container, state, restartCount = 0 }) => [
    ...(restartCount > 0 ? [{ pod, container, previous: true }] : []),
    ...(state?.running || state?.terminated ? [{ pod, container, previous: false }] : []),
  ]);
}

/** A container that never ran has no log. */
function notStarted(pod: KubeObject): readonly SupportPart[] {
  return statusesOf(pod).flatMap(({ name: container, state, restartCount = 0 }) => {
    if (restartCount > 0 || state?.running || state?.terminated) return [];
    const reason = state?.waiting?.reason;
    return [
      { ...asked({ pod, container, previous: false }), unread: `it has not started${reason ? ` (${reason})` : ''}: there is no log` },
    ];
  });
}

function asked({ pod, container, previous }: ContainerLog): Pick<SupportPart, 'path' | 'what'> {
  const path = `logs/${pathOf(pod)}/${pathPart(container)}${previous ? '.previous' : ''}.log`;
  return {
    path,
    what: `last ${LINES} lines of container ${container} of pod ${nameOf(pod)}${previous ? ', before its last restart' : ''}`,
  };
}

function requestOf({ pod: { metadata }, container, previous }: ContainerLog): string {
  const path = `/api/v1/namespaces/${encodeURIComponent(metadata.namespace ?? '')}/pods/${encodeURIComponent(metadata.name)}/log`;
  return `${path}?container=${encodeURIComponent(container)}${previous ? '&previous=true' : ''}&tailLines=${LINES}&limitBytes=${ASKED_BYTES}`;
}

/** Whole lines only: a truncated password could not be recognised. */
function ended(text: string): string {
  const whole = Buffer.byteLength(text) < ASKED_BYTES ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length <= LOG_BYTES) return whole;
  const end = whole.slice(-LOG_BYTES);
  const first = end.indexOf('\n');
  return `(the beginning is left out)\n${first < 0 ? '' : end.slice(first + 1)}`;
}
