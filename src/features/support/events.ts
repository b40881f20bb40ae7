import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { ApiFailure } from '../../kernel/ports.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOfService, serviceNamespaces } from '../survey/index.ts';
import { logParts } from './logs.ts';
import { type Asking, partOf, pathPart, podsOf, reasonOf, type SupportPart, supportNode, supportObject } from './pods.ts';

/** Events of a namespace that are kept: the newest. */
const MOST = 500;

interface EventFields {
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
}

/** A line an event, newest last. */
async function eventParts({ cluster }: Asking, namespaces: readonly string[]): Promise<readonly SupportPart[]> {
  return Promise.all(
    namespaces.map((namespace) =>
      partOf(`events/${pathPart(namespace)}.txt`, `events of namespace ${namespace}, at most the newest ${MOST}`, async () => {
        const events = await cluster.list(K.Event, { namespace, keep: lean });
        const lines = events.map((event) => ({ at: timeOf(event), text: lineOf(event) })).toSorted((a, b) => (a.at < b.at ? -1 : 1));
        return lines.length === 0
          ? 'no events\n'
          : lines
              .slice(-MOST)
              .map(({ text }) => `${text}\n`)
              .join('');
      }),
    ),
  );
}

function lean(event: KubeObject): KubeObject {
  const { type, reason, message, count, firstTimestamp, lastTimestamp, eventTime, series, involvedObject } = event as EventFields;
  const { apiVersion, kind, metadata } = event;
  const { name, creationTimestamp } = metadata;
  const head = { apiVersion, kind, metadata: { name, ...(creationTimestamp ? { creationTimestamp } : {}) } };
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
