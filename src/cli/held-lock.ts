import { ageText } from '../kernel/counted.ts';
import { UNLOCK_WHEN } from '../kernel/fault.ts';
import type { LockHolder } from '../kernel/ports.ts';
import type { RunRecord } from '../kernel/run-record.ts';
import { recordHead } from '../report/head-line.ts';
import { carriedTo } from './carry.ts';
import type { Outcome } from './report/run.ts';
import type { Session } from './session.ts';

/** Before anything is planned: where another run is at work, the user is told so at once. Undefined where nobody is. */
export async function besideAnother(session: Session): Promise<Outcome | undefined> {
  const { lock, records, clock } = session.composition;
  const holder = await lock.holder();
  if (!holder) return undefined;
  const record = await records.load().catch(() => undefined);
  const ours = (command: string) => `kubectl netsvc-upgrade ${command}${carriedTo(command.split(' ')[0] ?? '', session.asked.carried)}`;
  const suggestions = [`follow that run: ${ours('status --watch')}`, `${UNLOCK_WHEN}: ${ours('unlock')}`];
  const message = `${heldText(holder, record, clock.now())}; nothing was changed by this command`;
  const head = record?.clusterUid === session.context.clusterUid ? recordHead(record) : undefined;
  return { exit: 'locked', ...(head ? { head } : {}), findings: [], plans: [], stages: [], writes: 0, suggestions, message };
}

/** `anna on host host-1 (process 4711) has held the lock for 4m, at stage apply`. */
function heldText({ identity, acquiredAt }: LockHolder, record: RunRecord | undefined, now: Date): string {
  const stage = record?.finishedAt === undefined ? record?.stages.findLast(({ state }) => state === 'running')?.id : undefined;
  const since = Date.parse(acquiredAt);
  const holds = Number.isFinite(since) ? `has held the lock for ${ageText(now.getTime() - since)}` : 'holds the lock';
  return `${whoText(identity)} ${holds}${stage === undefined ? '' : `, at stage ${stage}`}`;
}

/** `user@host/pid/run id`, as far as it is that. */
export function whoText(identity: string): string {
  const [, user, host, pid] = /^([^@/]+)@([^/]+)\/(\d+)(?:\/|$)/.exec(identity) ?? [];
  return user === undefined ? identity : `${user} on host ${host} (process ${pid})`;
}
