import { command } from '../../kernel/argv.ts';
import { Fault } from '../../kernel/fault.ts';

/** A Secret of that name that this program did not make. */
export function foreignSecret(where: string, namespace: string, name: string): Fault {
  return new Fault('failed', `${where} is not of this program: its type is another one`, [
    `look at it: ${command`kubectl -n ${namespace} describe secret ${name}`}`,
    'rename it, or keep the state elsewhere: --state-namespace',
  ]);
}

/** Somebody else wrote the state while this run held the lock. */
export function changedUnderUs(where: string, isGone: boolean): Fault {
  return new Fault('stale', `${where} was ${isGone ? 'deleted' : 'changed'} by somebody else during this run; nothing more was written`, [
    'find out who writes it: the audit log of the API server, and who else runs: kubectl netsvc-upgrade status',
    'then continue with the same command: it plans again from what is there now',
  ]);
}
