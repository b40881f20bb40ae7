import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';

/** `alice@bastion`: for the run record and for users. */
export function operatorName(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return `unknown@${hostname()}`; // a user id without an entry in the password file
  }
}

/** `alice@bastion/4711/1a2b3c4d`: the lock's holder; the last part tells machines, their boots and their process namespaces apart. */
export function runIdentity(): string {
  return `${operatorName()}/${process.pid}/${processSpace()}`;
}

/** True only for an ended process of this boot and namespace whose programs are visible; another user's may be hidden. */
export function isGone(identity: string): boolean {
  const pid = pidHere(identity);
  if (pid === undefined || isRunning(pid)) return false;
  return identity.split('/')[0] === operatorName() || process.getuid?.() === 0;
}

/** The process of a lock's holder, if it is, or was, one of this very boot and process namespace. */
export function pidHere(identity: string): number | undefined {
  const [, pid = '', space = ''] = identity.split('/');
  return space !== '' && space === processSpace() && /^\d+$/.test(pid) ? Number(pid) : undefined;
}

/** True if there is a process of that id on this machine, whoever it is of. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Empty where the system does not tell (not Linux): then only the lease's own time limit frees a lock. */
function processSpace(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return createHash('sha256')
      .update(`${hostname()} ${boot} ${readlinkSync('/proc/self/ns/pid')}`)
      .digest('hex')
      .slice(0, 8);
  } catch {
    return '';
  }
}
