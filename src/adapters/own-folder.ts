import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Fault } from '../kernel/fault.ts';

const WRITABLE_BY_ALL = 0o002;
const WRITABLE_BY_GROUP = 0o020;
/** In such a folder (`/tmp`) nobody may rename or remove what others have in it. */
const STICKY = 0o1000;

/** Of a file or folder, as far as it says who may change it. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** Who this process is; undefined where the system has no such owners (Windows). */
export interface Who {
  readonly uid: number;
  readonly gid: number;
  /** Who called `sudo`: may do as root does already. */
  readonly caller?: number | undefined;
}

export function whoAmI(env: Readonly<Record<string, string | undefined>> = process.env): Who | undefined {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  if (uid === undefined || gid === undefined) return undefined;
  const caller = uid === 0 && /^\d+$/.test(env.SUDO_UID ?? '') ? Number(env.SUDO_UID) : undefined;
  return { uid, gid, caller };
}

/**
 * Throws Fault('failed') for a folder whose contents another local user could add or swap: a link, another owner, or a parent where others
 * may rename. Its files are applied to the cluster.
 */
export async function assertOwnFolder(path: string, what: string, who: Who | undefined = whoAmI()): Promise<void> {
  if (!who) return;
  const refuse = (why: string) =>
    new Fault('failed', `the ${what} ${path} is not used: ${why}`, [
      `look at it: ls -ld ${path}`,
      what === 'work folder' ? 'name a place of your own with XDG_STATE_HOME' : 'name a folder of your own',
    ]);
  const own = await lstat(path);
  if (own.isSymbolicLink()) throw refuse('it is a symbolic link');
  if (!isOurs(own, who)) throw refuse(`it belongs to another user (uid ${own.uid})`);
  for (let above = dirname(await realpath(path)); ; above = dirname(above)) {
    const folder = await stat(above);
    if (!isOurs(folder, who)) throw refuse(`${above} belongs to another user (uid ${folder.uid})`);
    if (isOpen(folder, who)) throw refuse(`other users may rename what is in ${above} (mode ${(folder.mode & 0o7777).toString(8)})`);
    if (above === dirname(above)) return;
  }
}

/** Root may do everything anyway. */
function isOurs({ uid }: Ownership, who: Who): boolean {
  return uid === 0 || uid === who.uid || uid === who.caller;
}

/** A group of one's own is what many systems give each user. */
export function isOpen({ gid, mode }: Ownership, who: Who): boolean {
  if ((mode & STICKY) !== 0) return false;
  return (mode & WRITABLE_BY_ALL) !== 0 || ((mode & WRITABLE_BY_GROUP) !== 0 && gid !== who.gid && gid !== 0);
}
