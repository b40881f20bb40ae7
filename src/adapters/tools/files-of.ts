import { access, constants, realpath, stat } from 'node:fs/promises';
import { posix, win32 } from 'node:path';
import type { Environment } from '../kubeconfig/connection.ts';

/** Every file of a program's name that can be run, in the order of PATH; of several names of one file the first. */
export async function filesOf(program: string, env: Environment): Promise<readonly string[]> {
  const found = new Map<string, string>();
  for (const file of pathCandidates(program, { path: env.PATH ?? '', pathExt: env.PATHEXT ?? '', platform: process.platform })) {
    const real = await executable(file).catch(() => undefined);
    if (real !== undefined && !found.has(real)) found.set(real, file);
  }
  return [...found.values()];
}

/**
 * The file to start for a program: a path as it stands, else the first of that name on PATH. Whoever starts a bare name lets Windows, and a
 * relative folder of PATH, look in the current folder first.
 */
export async function programFile(program: string, env: Environment): Promise<string | undefined> {
  return /[/\\]/.test(program) ? program : (await filesOf(program, env))[0];
}

/** The real place of a file that can be run; a folder of the program's name is none. */
export async function executable(file: string): Promise<string | undefined> {
  await access(file, constants.X_OK);
  return (await stat(file)).isFile() ? realpath(file) : undefined;
}

/**
 * Every file that a shell would try for a program, in order, without relative folders of PATH, which depend on the current one. `pathExt`:
 * `.COM;.EXE;…`, on Windows only.
 */
export function pathCandidates(
  program: string,
  { path, pathExt, platform }: Readonly<Record<'path' | 'pathExt' | 'platform', string>>,
): readonly string[] {
  const windows = platform === 'win32';
  const [between, slash] = windows ? [';', '\\'] : [':', '/'];
  const folders = path
    .split(between)
    .map((folder) => (windows ? folder.replace(/^"|"$/g, '') : folder))
    .filter((windows ? win32 : posix).isAbsolute);
  const suffixes = windows ? suffixesOf(program, pathExt) : [''];
  return folders.flatMap((folder) => suffixes.map((suffix) => `${folder.endsWith(slash) ? folder : folder + slash}${program}${suffix}`));
}

function suffixesOf(program: string, pathExt: string): readonly string[] {
  const known = (pathExt || '.COM;.EXE;.BAT;.CMD').split(';').filter((suffix) => suffix !== '');
  const lower = program.toLowerCase();
  return known.some((suffix) => lower.endsWith(suffix.toLowerCase())) ? [''] : known.map((suffix) => suffix.toLowerCase());
}
