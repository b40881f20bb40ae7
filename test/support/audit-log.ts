import { readFile } from 'node:fs/promises';
import type { ControlPlane } from '../control-plane/control-plane.ts';

/** A request as the API server saw it (audit.k8s.io/v1), of a control plane that keeps an audit log. */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string; readonly groups?: readonly string[] };
}

/** Every request of programs so far: the test ground's own client, which plays people and parts, does not say what it is. */
export async function programRequests({ auditLog }: Pick<ControlPlane, 'auditLog'>): Promise<readonly AuditEvent[]> {
  const lines = (await readFile(auditLog, 'utf8')).trim().split('\n');
  const events = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AuditEvent);
  return events.filter(({ userAgent }) => userAgent !== undefined);
}

/** One line for each of those that did not come as this user of this group. */
export function asAnybodyElse(events: readonly AuditEvent[], user: string, group: string): readonly string[] {
  const strangers = events.filter(({ impersonatedUser: as }) => as?.username !== user || !as.groups?.includes(group));
  return strangers.map(({ userAgent, verb, requestURI }) => `${userAgent} ${verb} ${requestURI}`);
}
