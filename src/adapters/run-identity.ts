import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';

/** `alice@bastion`: for the run record and for people. */
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

/** True only for a process of this very boot and process namespace that no longer exists. */
export function isGone(identity: string): boolean {
  const [, pid, space] = identity.split('/');
  if (space === undefined || space === '' || space !== processSpace() || !/^\d+$/.test(pid ?? '')) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH';
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
