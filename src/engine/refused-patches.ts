import { counted } from '../kernel/counted.ts';
import { Fault } from '../kernel/fault.ts';
import { ApiFailure } from '../kernel/ports.ts';

/** Answers about this one object: who may patch it, what an admission webhook says, a kind that knows no patch. Others may be patched all the same. */
const REFUSED = new Set([400, 403, 405]);
/** This many refused objects are named, the rest are counted. */
const NAMED = 5;

/** A failed `test` has no causes; a 422 with causes is the server's evaluation of the result, and trying again is in vain. */
export function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof ApiFailure)) return false;
  const { status, reason, causes } = thrown;
  return (REFUSED.has(status) && reason !== `HTTP ${status}`) || (status === 422 && causes.length > 0);
}

/** One Fault for all of them; `of` is how many patches there were. */
export function refusal(refused: readonly string[], of: number): Fault {
  const named = refused.slice(0, NAMED).join('; ');
  const more = refused.length > NAMED ? `; and ${refused.length - NAMED} more` : '';
  return new Fault('failed', `the server refuses ${refused.length} of ${counted(of, 'patch', 'patches')}: ${named}${more}`, [
    'let this account patch these objects, or fix what its admission webhooks object to; the others are done',
    'then run the same command again',
  ]);
}
