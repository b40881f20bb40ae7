import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { resolvePrograms } from '../control-plane/binaries.ts';
import { PROGRAMS, type Programs } from '../control-plane/build-plan.ts';

/** A program with the version that it says. */
export interface Found<T> {
  readonly version: string;
  readonly what: T;
}

const folders = () => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && existsSync(folder));

/** Every `kubectl.1.NN` on PATH or beside the file that a kubectl there leads to, and that of the test ground. */
export async function findKubectls(own: string): Promise<readonly Found<string>[]> {
  const links = folders().map((folder) => join(folder, 'kubectl'));
  const beside = links.filter((file) => existsSync(file)).map((file) => dirname(realpathSync(file)));
  const ready = [...new Set([...folders(), ...beside])].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^kubectl\.1\.\d+$/.test(name))
      .map((name) => join(folder, name)),
  );
  return versions([...ready, own], ['version', '--client', '--output=json'], /"gitVersion": "(v[\d.]+)/);
}

/** Complete sets of control plane programs: those that the tests use, and others in the cache. */
export async function findControlPlanes(): Promise<readonly Found<Programs>[]> {
  const usual = await resolvePrograms();
  const cache = dirname(dirname(usual['kube-apiserver']));
  const sets = readdirSync(cache)
    .map((key) => Object.fromEntries(PROGRAMS.map((program) => [program, join(cache, key, program)])) as Programs)
    .filter((set) => PROGRAMS.every((program) => existsSync(set[program])));
  const all = [usual, ...sets];
  const found = await versions(
    all.map((set) => set['kube-apiserver']),
    ['--version'],
    /(v[\d.]+)/,
  );
  return found.flatMap(({ version, what }) => {
    const set = all.find((one) => one['kube-apiserver'] === what);
    return set ? [{ version, what: set }] : [];
  });
}

/** The Node of these tests, those on PATH, and runtimes that were fetched for the archives. */
export async function findNodes(): Promise<readonly Found<string>[]> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-runtimes');
  const fetched = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }).map((file) => join(cache, file)) : [];
  const files = [
    process.execPath,
    ...folders().map((folder) => join(folder, 'node')),
    ...fetched.filter((file) => /\/bin\/node$/.test(file)),
  ];
  const found = await versions(
    files.filter((file) => existsSync(file)),
    ['--version'],
    /^v[\d.]+/,
  );
  // The program itself refuses older ones.
  return found.filter(({ version }) => Number(/^v(\d+)/.exec(version)?.[1]) >= 22);
}

/** Each version once; what does not run here, or says nothing, is left out. */
async function versions(files: readonly string[], args: readonly string[], said: RegExp): Promise<readonly Found<string>[]> {
  const found = new Map<string, Found<string>>();
  for (const what of new Set(files)) {
    const { stdout } = await execa(what, args, { reject: false });
    const version = said.exec(stdout ?? '')?.at(-1);
    if (version !== undefined && !found.has(version)) found.set(version, { version, what });
  }
  return [...found.values()];
}
