import type { KubeObject } from '../../kernel/object.ts';
import { eachOf } from '../survey/index.ts';
import { type Asking, nameOf, partOf, pathOf, pathPart, type SupportPart } from './pods.ts';

const LINES = 500;
/** Of one log, from its end. */
const LOG_BYTES = 256 * 1024;
/** The server cuts at the end of what it sends. */
const ASKED_BYTES = 4 * LOG_BYTES;
const ALL_BYTES = 8 * 1024 * 1024;
const MOST = 100;
/** The server reads each log from a node. */
const AT_A_TIME = 4;

interface ContainerLog {
  readonly pod: KubeObject;
  readonly container: string;
  readonly previous: boolean;
}

interface Status {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: { readonly waiting?: { readonly reason?: string }; readonly running?: object; readonly terminated?: object };
}

/** The ends of the logs of containers that are not ready, before a restart as well. What is beyond the limits is listed. */
export async function logParts({ cluster }: Asking, pods: readonly KubeObject[]): Promise<readonly SupportPart[]> {
  const logs = pods.flatMap(logsOf);
  let bytes = 0;
  const read = await eachOf(logs.slice(0, MOST), AT_A_TIME, async (log): Promise<SupportPart> => {
    const { path, what } = named(log);
    if (bytes >= ALL_BYTES) return { path, what, unread: 'left out: the logs before it are large enough' };
    const part = await partOf(path, what, async () => ended(await cluster.raw(requestOf(log))));
    bytes += typeof part.content === 'string' ? part.content.length : 0;
    return part;
  });
  const left = logs.length - read.length;
  const rest =
    left > 0 ? [{ path: 'logs/', what: 'further logs', unread: `${left} more are left out: a bundle holds at most ${MOST}` }] : [];
  return [...read, ...pods.flatMap(notStarted), ...rest];
}

function statusesOf(pod: KubeObject): readonly Status[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (pod.status ?? {}) as {
    readonly initContainerStatuses?: readonly Status[];
    readonly containerStatuses?: readonly Status[];
  };
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
      { ...named({ pod, container, previous: false }), unread: `it has not started${reason ? ` (${reason})` : ''}: there is no log` },
    ];
  });
}

function named({ pod, container, previous }: ContainerLog): Pick<SupportPart, 'path' | 'what'> {
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
