import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { type Asking, partOf, pathPart, type SupportPart } from './part.ts';

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
export async function eventParts({ cluster }: Asking, namespaces: readonly string[]): Promise<readonly SupportPart[]> {
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
