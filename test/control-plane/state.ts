import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** What a control plane in the background says of itself; it has no server before it runs. */
export interface State {
  readonly name: string;
  readonly pid: number;
  readonly endsAt: string;
  readonly kubeconfig?: string;
  readonly server?: string;
}

/** Folder of everything that runs in the background: `NAME.json`, `NAME.log` and the folder `NAME`. */
export const stateFolder = (): string =>
  join(process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'netsvc-upgrade-control-plane');

const fileOf = (name: string): string => join(stateFolder(), `${name}.json`);

export async function writeState(state: State): Promise<void> {
  const half = `${fileOf(state.name)}.${process.pid}`;
  await writeFile(half, JSON.stringify(state, undefined, 2), { mode: 0o600 });
  await rename(half, fileOf(state.name));
}

/** Undefined if there is none of that name. */
export async function readState(name: string): Promise<State | undefined> {
  const text = await readFile(fileOf(name), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as State);
}

export async function listStates(): Promise<readonly State[]> {
  const files = await readdir(stateFolder()).catch(() => []);
  const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
  const states = await Promise.all(names.sort().map(readState));
  return states.filter((state) => state !== undefined);
}

/** Removes everything of a control plane that is gone, its log excepted. */
export async function forget(name: string): Promise<void> {
  await rm(join(stateFolder(), name), { recursive: true, force: true });
  await rm(fileOf(name), { force: true });
}

/** True if the process is still the supervisor that wrote the state: pids are used again. */
export async function isAlive({ pid, name }: State): Promise<boolean> {
  const { exitCode, stdout } = await execa('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { reject: false });
  return exitCode === 0 && stdout.includes('supervise.ts') && stdout.includes(`"name":"${name}"`);
}
