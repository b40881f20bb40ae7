/** A real control plane to try upgrades on: docs/internals/control-plane.md. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCommand, type UpOptions, USAGE } from './arguments.ts';
import { type Programs, resolvePrograms } from './binaries.ts';
import { findManifest } from './install.ts';
import { forget, isAlive, listStates, readState, type State, stateFolder } from './state.ts';
import { until } from './until.ts';

const EXIT_USAGE = 64;
const SUPERVISOR = fileURLToPath(new URL('supervise.ts', import.meta.url));
const LIMIT_MS = 10 * 60_000;

const say = (line: string): void => void process.stderr.write(`${line}\n`);

/** Starts a control plane in the background and waits until it is ready. Throws if one of that name runs. */
async function up(name: string, options: UpOptions): Promise<void> {
  const present = await readState(name);
  if (present && (await isAlive(present)))
    throw new Error(`"${name}" runs already (${present.server ?? 'it is starting'}); end it with: ${command('down', name)}`);
  if (options.install !== undefined) findManifest(options); // said now rather than after the start
  const programs = await resolvePrograms();
  const log = join(stateFolder(), `${name}.log`);
  await mkdir(stateFolder(), { recursive: true, mode: 0o700 });
  await forget(name);
  const state = await whenReady(name, startSupervisor(name, programs, options, log), log);
  for (const line of usage(state, programs)) say(line);
  process.stdout.write(`${state.kubeconfig}\n`);
}

function startSupervisor(name: string, programs: Programs, options: UpOptions, log: string): ChildProcess {
  const output = openSync(log, 'w', 0o600);
  const child = spawn(process.execPath, [SUPERVISOR, JSON.stringify({ name, programs, options })], {
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.unref();
  return child;
}

/** Shows the log as it grows. */
async function whenReady(name: string, supervisor: ChildProcess, log: string): Promise<State> {
  let told = 0;
  let state: State | undefined;
  const ready = async () => {
    state = await readState(name);
    const text = await readFile(log, 'utf8');
    process.stderr.write(text.slice(told));
    told = text.length;
    return state?.server !== undefined || supervisor.exitCode !== null || supervisor.signalCode !== null;
  };
  await until('the control plane is ready', ready, LIMIT_MS);
  if (state?.server !== undefined) return state;
  throw new Error('the control plane did not start');
}

function usage(state: State, programs: Programs): readonly string[] {
  return [
    `Ready; ends by itself at ${new Date(state.endsAt).toLocaleString()}.`,
    `Use it:   export KUBECONFIG=${state.kubeconfig}`,
    `kubectl:  export PATH=${dirname(programs.kubectl)}:$PATH   (if you have no kubectl of your own)`,
    `Break it: kubectl label node node-03 netsvc-upgrade.test/fault=image-pull   (docs/internals/control-plane.md)`,
    `End it:   ${command('down', state.name)}`,
  ];
}

function command(verb: string, name: string): string {
  return `npm run control-plane -- ${verb}${name === 'default' ? '' : ` --name ${name}`}`;
}

async function down(name: string): Promise<void> {
  const state = await readState(name);
  if (state === undefined) return void say(`no control plane "${name}" runs`);
  if (await isAlive(state)) {
    process.kill(state.pid, 'SIGTERM');
    await until(`process ${state.pid} has ended`, async () => !(await isAlive(state)), 30_000);
  }
  await forget(name);
  say(`"${name}" has ended`);
}

async function status(): Promise<void> {
  const states = await listStates();
  if (states.length === 0) say('no control plane runs');
  for (const state of states) {
    const running = state.server === undefined ? 'starting' : 'running';
    const phase = (await isAlive(state)) ? running : 'dead; clear it with down';
    process.stdout.write(`${[state.name, phase, state.server ?? '-', state.kubeconfig ?? '-', `until ${state.endsAt}`].join('\t')}\n`);
  }
}

async function main(): Promise<void> {
  const command = parseCommand(process.argv.slice(2));
  if (command.type === 'up') return up(command.name, command.options);
  if (command.type === 'down') return down(command.name);
  if (command.type === 'status') return status();
  process.stderr.write(command.problem === undefined ? USAGE : `${command.problem}\n\n${USAGE}`);
  process.exitCode = command.problem === undefined ? 0 : EXIT_USAGE;
}

await main().catch((thrown: unknown) => {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
  process.exitCode = 1;
});
