import { Fault } from './fault.ts';
import { ApiFailure } from './ports.ts';

/** etcd has reached its quota: it reads and deletes, and stores nothing more until somebody makes room and disarms its alarm. */
const STORE_FULL = /database space exceeded/;

/** What the user can do about whatever ended a command; nothing for what is a defect. */
export function stepsAfter(thrown: unknown): readonly string[] {
  if (thrown instanceof Fault) return thrown.suggestions;
  if (!(thrown instanceof ApiFailure)) return [];
  const { status, message } = thrown;
  if (STORE_FULL.test(message))
    return ['make room in etcd: compact and defragment it, then disarm its alarm NOSPACE', 'then run the same command again'];
  if (status === 403)
    return ['get the permission (kubectl netsvc-upgrade permissions --for run prints the roles), then run the same command again'];
  if (status === 0) return ['wait until the API server answers, then run the same command again'];
  return ['run the same command again'];
}
