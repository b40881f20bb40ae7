import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { execa } from 'execa';
import { type Programs, planKubernetes } from '../control-plane/build-plan.ts';
import { builtHere } from '../control-plane/go-build.ts';

/** A program with the version that it says. */
export interface Found<T> {
  readonly version: string;
  readonly what: T;
}

/** Pinned Go modules, one a minor: `1.34`. */
const MODULES = join(import.meta.dirname, 'kubernetes');
const SERVER = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

/** Of a minor that has no control plane of its own in the matrix only the client is built. */
const CLIENT_ONLY = ['1.35'];

/** The usual programs with those of another minor in their place, for each minor; what cannot be built is left out, and said. */
export async function builtKubernetes(usual: Programs): Promise<readonly Programs[]> {
  const built: Programs[] = [];
  for (const minor of readdirSync(MODULES)) {
    const programs = CLIENT_ONLY.includes(minor) ? (['kubectl'] as const) : SERVER;
    try {
      const folder = await builtHere(join(MODULES, minor), (...pins) => planKubernetes(programs, ...pins));
      built.push({ ...usual, ...Object.fromEntries(programs.map((program) => [program, join(folder, program)])) });
    } catch (thrown) {
      process.stderr.write(`Kubernetes ${minor}: ${String(thrown)}\n`);
    }
  }
  return built;
}

const folders = () => (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && existsSync(folder));

/** These, and every `kubectl.1.NN` on PATH or beside the file that a kubectl there leads to; one a minor. */
export async function findKubectls(given: readonly string[]): Promise<readonly Found<string>[]> {
  const links = folders().map((folder) => join(folder, 'kubectl'));
  const beside = links.filter((file) => existsSync(file)).map((file) => dirname(realpathSync(file)));
  const ready = [...new Set([...folders(), ...beside])].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^kubectl\.1\.\d+$/.test(name))
      .map((name) => join(folder, name)),
  );
  const files = [...given, ...ready].filter((file) => existsSync(file));
  const found = await versions(files, ['version', '--client', '--output=json'], /"gitVersion": "(v[\d.]+)/);
  return [...Map.groupBy(found, ({ version }) => minorOf(version)).values()]
    .flatMap(([first]) => (first ? [first] : []))
    .sort((a, b) => Number(minorOf(a.version)) - Number(minorOf(b.version)));
}

const minorOf = (version: string): string => /^v1\.(\d+)/.exec(version)?.[1] ?? '';

/** One set of programs for each version of the API server. */
export async function findControlPlanes(sets: readonly Programs[]): Promise<readonly Found<Programs>[]> {
  const servers = sets.map((set) => set['kube-apiserver']);
  const found = await versions(servers, ['--version'], /(v[\d.]+)/);
  return found.flatMap(({ version, what }) => {
    const set = sets[servers.indexOf(what)];
    return set ? [{ version, what: set }] : [];
  });
}

/** The Node of these tests, those on PATH, and runtimes that were fetched for the archives. */
export async function findNodes(): Promise<readonly Found<string>[]> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'netsvc-upgrade-runtimes');
  await fetchOldestNode(join(cache, `npm-${OLDEST}`));
  const fetched = existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: 'utf8' }).map((file) => join(cache, file)) : [];
  const onPath = folders().map((folder) => join(folder, 'node'));
  const files = [process.execPath, ...onPath, ...fetched.filter((file) => /\/bin\/node$/.test(file))].filter((file) => existsSync(file));
  const found = await versions(files, ['--version'], /^v[\d.]+/);
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
