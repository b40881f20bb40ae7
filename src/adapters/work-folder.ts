import { access, chmod, constants, lstat, mkdir, mkdtemp, readFile, realpath, rm, stat, statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Fault, messageOf } from '../kernel/fault.ts';
import type { WorkFolder } from '../kernel/ports.ts';
import { sha256Of } from '../kube/sha256.ts';
import { ifThere, writeDurably } from './durable-write.ts';
import type { Environment } from './kubeconfig/connection.ts';

/** `$XDG_STATE_HOME/netsvc-upgrade/<cluster>`: one per cluster, the same for every command on it. */
export function defaultWorkFolder(env: Environment, clusterUid: string): string {
  const { XDG_STATE_HOME: given = '' } = env;
  // A relative one is to be ignored (XDG base directories).
  const state = isAbsolute(given) ? given : join(env.HOME || homedir(), '.local', 'state');
  return join(state, 'netsvc-upgrade', clusterUid.replaceAll(/[^A-Za-z0-9-]/g, '-'));
}

/** A work folder of this machine. */
export interface LocalWorkFolder extends WorkFolder {
  /** The SHA-256 of a file as this process wrote it last; undefined where it did not. */
  written(file: string): string | undefined;
}

/** What opening it needs to know of the command. */
interface Opening {
  readonly env: Environment;
  /** The command changes nothing. */
  readonly looksOnly?: boolean;
  warn(text: string): void;
}

/**
 * The work folder of this cluster; a read-only command may use a temporary one, and says so. Any other ends: backup, kept files and the
 * search for orphans need the lasting one.
 */
export async function openFolder({ env, looksOnly = false, warn }: Opening, clusterUid: string): Promise<LocalWorkFolder> {
  const path = defaultWorkFolder(env, clusterUid);
  try {
    return await openWorkFolder(path);
  } catch (thrown) {
    if (!looksOnly || !(thrown instanceof Fault)) throw thrown;
    warn(`${thrown.message}; this command only reads and does without it, but an upgrade needs it: ${thrown.suggestions.join('; ')}`);
    // Of this process alone. Whoever opens it removes it.
    const temporary = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-'));
    return { ...filesIn(temporary), standsInFor: path };
  }
}

/** Files of this cluster's runs, readable by their owner only. Throws Fault if the folder cannot be used. */
export async function openWorkFolder(path: string): Promise<LocalWorkFolder> {
  await usable(path, async () => {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await assertOwnFolder(path, 'work folder');
    // It may be there already, from a time with other rights.
    await chmod(path, 0o700);
    await access(path, constants.W_OK | constants.X_OK);
  });
  return filesIn(path);
}

function filesIn(path: string): LocalWorkFolder {
  const sums = new Map<string, string>();
  return {
    path,
    read: async (name) => ifThere(readFile(join(path, plain(name)), 'utf8')),
    async write(name, content) {
      const file = join(path, plain(name));
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      await usable(path, () => writeDurably(file, bytes, 0o600));
      sums.set(file, sha256Of(bytes));
      return file;
    },
    written: (file) => sums.get(file),
    async fresh(use) {
      const folder = await mkdtemp(join(path, `fresh-${process.pid}-`));
      try {
        return await use(folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    async freeBytes() {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    },
  };
}

/** Names come from profiles and manifests: none may leave the folder. */
function plain(name: string): string {
  if (name !== '' && basename(name) === name && name !== '.' && name !== '..') return name;
  throw new Fault('failed', `not a plain file name: ${name}`, ['correct the profile']);
}

async function usable(path: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    throw new Fault('failed', `the work folder ${path} cannot be written: ${messageOf(thrown)}`, [
      `make ${dirname(path)} writable and see that it has space, or name another place with XDG_STATE_HOME`,
    ]);
  }
}

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

/** A group of one's own is what many systems give each user, with the user's number; a primary group of another number may be shared. */
export function isOpen({ gid, mode }: Ownership, who: Who): boolean {
  if ((mode & STICKY) !== 0) return false;
  return (mode & WRITABLE_BY_ALL) !== 0 || ((mode & WRITABLE_BY_GROUP) !== 0 && !(gid === who.gid && gid === who.uid) && gid !== 0);
}
