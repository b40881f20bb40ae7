/** A real control plane to try upgrades on: docs/internals/control-plane.md. */
import { parseCommand, USAGE } from './arguments.ts';
import { forget, isAlive, listStates, readState } from './state.ts';
import { until } from './until.ts';
import { up } from './up.ts';

const EXIT_USAGE = 64;

async function down(name: string): Promise<void> {
  const state = await readState(name);
  if (state === undefined) return void process.stderr.write(`no control plane "${name}" runs\n`);
  if (await isAlive(state)) {
    process.kill(state.pid, 'SIGTERM');
    await until(`process ${state.pid} has ended`, async () => !(await isAlive(state)), 30_000);
  }
  await forget(name);
  process.stderr.write(`"${name}" has ended\n`);
}

async function status(): Promise<void> {
  const states = await listStates();
  if (states.length === 0) process.stderr.write('no control plane runs\n');
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
