import { posix, win32 } from 'node:path';

/** What decides which files a program's name may mean. */
export interface PathSurroundings {
  readonly path: string;
  /** `.COM;.EXE;…`, on Windows only. */
  readonly pathExt: string;
  readonly platform: string;
}

/**
 * Every file that a shell would try for a program, in its order, but for those of relative and empty folders of PATH: they would mean whatever
 * lies in the current folder. Pure; nothing is looked up.
 */
export function pathCandidates(program: string, { path, pathExt, platform }: PathSurroundings): readonly string[] {
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
