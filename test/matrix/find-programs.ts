import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import type { Programs } from '../control-plane/build-plan.ts';
import type { Built } from './built-kubernetes.ts';

/** A program with the version that it says. */
export interface Found<T> {
  readonly version: string;
  readonly what: T;
}

const folders = () => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && existsSync(folder));

/**
 * Every `kubectl.1.NN` on PATH or beside the file that a kubectl there leads to, those that were built, and those of the control planes;
 * one a minor.
 */
export async function findKubectls(own: readonly string[], built: readonly Built[]): Promise<readonly Found<string>[]> {
  const links = folders().map((folder) => join(folder, 'kubectl'));
  const beside = links.filter((file) => existsSync(file)).map((file) => dirname(realpathSync(file)));
  const ready = [...new Set([...folders(), ...beside])].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^kubectl\.1\.\d+$/.test(name))
      .map((name) => join(folder, name)),
  );
  const files = [...own, ...built.map(({ kubectl }) => kubectl), ...ready].filter((file) => existsSync(file));
  const found = await versions(files, ['version', '--client', '--output=json'], /"gitVersion": "(v[\d.]+)/);
  return [...Map.groupBy(found, ({ version }) => minorOf(version)).values()]
    .flatMap(([first]) => (first ? [first] : []))
    .sort((a, b) => Number(minorOf(a.version)) - Number(minorOf(b.version)));
}

const minorOf = (version: string): string => /^v1\.(\d+)/.exec(version)?.[1] ?? '';

/** Sets of control plane programs: those that the tests use, and those that were built for this. */
export async function findControlPlanes(usual: Programs, built: readonly Built[]): Promise<readonly Found<Programs>[]> {
  const all = [usual, ...built.flatMap(({ programs, problem }) => (programs && problem === undefined ? [programs] : []))];
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
  await fetchOldestNode(join(cache, `npm-${OLDEST}`));
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

/** The oldest major that the program starts with. */
const OLDEST = '22';

/** As npm has it; where it is not to be had the page says that there is none. */
async function fetchOldestNode(folder: string): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(folder, { recursive: true });
  const name = `node-${process.platform}-${process.arch}@${OLDEST}`;
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', name];
  const { exitCode } = await execa('npm', args, { reject: false });
  // What is half there would never be fetched again.
  if (exitCode !== 0) await rm(folder, { recursive: true, force: true });
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
