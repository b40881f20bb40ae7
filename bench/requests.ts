import { readFile } from 'node:fs/promises';

interface AuditEvent {
  readonly auditID: string;
  readonly verb: string;
  readonly userAgent?: string;
  readonly requestURI: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
}

/** Requests of this program in an audit log that holds reads, too: `watch pods` → how many, most first. */
export async function requestsOf(auditLog: string): Promise<ReadonlyMap<string, number>> {
  const events = (await readFile(auditLog, 'utf8'))
    .split('\n')
    .filter((line) => line.includes('"kubectl-netsvc_upgrade/'))
    .map((line) => JSON.parse(line) as AuditEvent);
  // A watch is told twice: when it begins and when it ends.
  const requests = new Map(events.map((event) => [event.auditID, nameOf(event)]));
  const counts = new Map<string, number>();
  for (const name of requests.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...counts].sort(([a, first], [b, second]) => second - first || a.localeCompare(b)));
}

function nameOf({ verb, objectRef, requestURI }: AuditEvent): string {
  if (objectRef?.resource === undefined) return `${verb} ${requestURI.split('?')[0]}`;
  return `${verb} ${[objectRef.resource, objectRef.subresource].filter(Boolean).join('/')}`;
}

/** One line for a table: the sum, and what it is made of. */
export function requestsText(counts: ReadonlyMap<string, number>): string {
  const sum = [...counts.values()].reduce((total, count) => total + count, 0);
  return `${sum}: ${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`;
}
