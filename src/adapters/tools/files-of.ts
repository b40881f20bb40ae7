import { access, constants, realpath, stat } from 'node:fs/promises';
import type { Environment } from '../kubeconfig/connection.ts';
import { pathCandidates } from './path-candidates.ts';

/** Every file of a program's name that can be run, in the order of PATH; of several names of one file the first. */
export function filesOf(program: string, env: Environment): Promise<readonly string[]> {
  return executableOnce(pathCandidates(program, { path: env.PATH ?? '', pathExt: env.PATHEXT ?? '', platform: process.platform }));
}

async function executableOnce(candidates: readonly string[]): Promise<readonly string[]> {
  const seen = new Set<string>();
  const found: string[] = [];
  for (const file of candidates) {
    const real = await executable(file).catch(() => undefined);
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    found.push(file);
  }
  return found;
}

/** The real place of a file that can be run; a folder of the program's name is none. */
async function executable(file: string): Promise<string | undefined> {
  await access(file, constants.X_OK);
  return (await stat(file)).isFile() ? realpath(file) : undefined;
}
