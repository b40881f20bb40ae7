import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkFolder } from '../../kernel/ports.ts';
import { sha256Of } from '../../kube/sha256.ts';
import { cliConfigName, kubeconfigName, ownerOfKubeconfig } from './orphans.ts';
import { openWritten } from './written-file.ts';

/** The private kubeconfig of this process. It holds credentials, so it is on disk only from the first program that needs it to the end. */
export interface PrivateKubeconfig {
  readonly path: string;
  /** The configuration of the service's CLI that leads to the same cluster; undefined where there is none. */
  readonly cliConfigPath?: string;
  /** Writes it, once; then throws Fault('failed') where it no longer is what was written. */
  write(): Promise<unknown>;
  /** The same of both. */
  writeForCli(): Promise<unknown>;
  /** Removes them, and a work folder that was only a replacement for the real one. */
  remove(): Promise<void>;
}

/** Its name has the process in it: two commands at once must not remove each other's. With an `auth-provider` kubectl renews the token in it. */
export function privateKubeconfigFile(
  work: WorkFolder,
  text: string,
  cliConfigText: (kubeconfig: string) => string | undefined = () => undefined,
  credential: 'as written' | 'renewed by kubectl' = 'as written',
): PrivateKubeconfig {
  const path = join(work.path, kubeconfigName(process.pid));
  const cliConfig = cliConfigText(path);
  const written = new Map<string, Promise<string>>();
  let removed = false;
  const writeOnce = async (name: string, content: string) => {
    // A reader that was still under way at the end must not leave credentials behind.
    if (removed) throw new Error('this command has ended');
    const writing = written.get(name) ?? work.write(name, content);
    written.set(name, writing);
    const path = await writing;
    // It says which cluster a program talks to: what else writes here must not decide that.
    if (name === kubeconfigName(process.pid) && credential === 'renewed by kubectl') return;
    const file = await openWritten(path, sha256Of(content), 'is not given to a program');
    await file.close();
  };
  const write = async () => writeOnce(kubeconfigName(process.pid), text);
  return {
    path,
    ...(cliConfig === undefined ? {} : { cliConfigPath: join(work.path, cliConfigName(process.pid)) }),
    write,
    async writeForCli() {
      await write();
      if (cliConfig !== undefined) await writeOnce(cliConfigName(process.pid), cliConfig);
    },
    async remove() {
      removed = true;
      await Promise.allSettled(written.values());
      if (work.standsInFor !== undefined) await rm(work.path, { force: true, recursive: true });
      else await Promise.all([...written.keys()].map((name) => rm(join(work.path, name), { force: true })));
    },
  };
}

function ownerOfFresh(name: string): number | undefined {
  const pid = /^fresh-(\d+)-/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** A killed process leaves its private kubeconfig behind, and what it was fetching: credentials must not stay on disk. */
export async function removeStaleKubeconfigs(folder: string, isRunning: (pid: number) => boolean): Promise<void> {
  const stale = (await readdir(folder)).filter((name) => {
    const pid = ownerOfKubeconfig(name) ?? ownerOfFresh(name);
    return pid !== undefined && !isRunning(pid);
  });
  await Promise.all(stale.map((name) => rm(join(folder, name), { force: true, recursive: true })));
}
