import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, mkdtemp, readFile, statfs } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { Fault, messageOf } from '../kernel/fault.ts';
import type { WorkFolder } from '../kernel/ports.ts';
import { writeDurably } from './durable-write.ts';
import type { Environment } from './kubeconfig/connection.ts';
import { assertOwnFolder } from './own-folder.ts';

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

/** For commands that only read: a folder of this process alone if the real one is not writable. Whoever opens it removes it. */
export async function openTemporaryFolder(standsInFor: string): Promise<LocalWorkFolder> {
  const path = await mkdtemp(join(tmpdir(), 'netsvc-upgrade-'));
  return { ...filesIn(path), standsInFor };
}

function filesIn(path: string): LocalWorkFolder {
  const sums = new Map<string, string>();
  return {
    path,
    async read(name) {
      return readFile(join(path, plain(name)), 'utf8').catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code === 'ENOENT') return undefined;
        throw thrown;
      });
    },
    async write(name, content) {
      const file = join(path, plain(name));
      const bytes = typeof content === 'string' ? Buffer.from(content) : content;
      await usable(path, () => writeDurably(file, bytes, 0o600));
      sums.set(file, createHash('sha256').update(bytes).digest('hex'));
      return file;
    },
    written: (file) => sums.get(file),
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
