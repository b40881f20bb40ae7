import type { LoggedRequest } from '../control-plane/proxy-log.ts';

const OWN = { lock: /\/leases(\/netsvc-upgrade)?$/, record: /\/secrets(\/netsvc-upgrade-run[^/]*)?$/ };

const pathOf = ({ path }: LoggedRequest): string => path.split('?')[0] ?? '';
const isOwn = (request: LoggedRequest): boolean => request.path.includes('fieldManager=netsvc-upgrade');
const isGood = ({ clientStatus = 0 }: LoggedRequest): boolean => clientStatus >= 200 && clientStatus <= 299;

/** Writes of one run that came before both its lock and its record were acknowledged to it; there must be none. */
export function writesTooEarly(run: readonly LoggedRequest[]): readonly string[] {
  const writes = run.filter(({ purpose }) => purpose === 'write');
  const good = (which: RegExp) => writes.find((one) => isOwn(one) && isGood(one) && which.test(pathOf(one)))?.answeredAt ?? Infinity;
  const [lockedAt, recordedAt] = [good(OWN.lock), good(OWN.record)];
  return writes.flatMap((one) => {
    if (isOwn(one) && OWN.lock.test(pathOf(one))) return [];
    const needs = isOwn(one) ? lockedAt : Math.max(lockedAt, recordedAt);
    const because = needs === lockedAt ? 'the lock' : 'the run record';
    return one.arrivedAt > needs ? [] : [`request ${one.number} ${one.method} ${one.path} came before ${because} was acknowledged`];
  });
}

/** What the audit log has of tools that the proxy never saw: somebody went around it. */
export function writesPastProxy(auditLog: string, known: ReadonlySet<string>): readonly string[] {
  const lines = auditLog.split('\n').filter((line) => line.trim() !== '');
  const events = lines.map((line) => JSON.parse(line) as { auditID: string; verb: string; requestURI: string; userAgent?: string });
  // The test ground's own client says no name; every tool does.
  const tools = events.filter(({ userAgent }) => userAgent !== undefined && userAgent !== '');
  return tools
    .filter(({ auditID }) => !known.has(auditID))
    .map(({ verb, requestURI, userAgent }) => `${verb} ${requestURI} by ${userAgent}`);
}
