import { join } from 'node:path';
import type { GoBuild, Program } from './build-plan.ts';
import type { Machine } from './machine.ts';

const WAIT_MS = 2000;

/** Builds what the cache folder lacks from the pinned Go module; the reason if that cannot be done. */
export async function buildPrograms(machine: Machine, plan: GoBuild, module: string, cache: string): Promise<string | undefined> {
  const go = await machine.run('go', ['version']);
  if (go.exitCode !== 0) return `there is no Go compiler on the PATH (go version: ${go.output.trim() || 'not found'})`;
  await machine.makeFolder(cache);
  const lock = join(cache, 'lock');
  await takeLock(machine, lock);
  try {
    return await buildMissing(machine, plan, module, cache);
  } finally {
    await machine.unlock(lock);
  }
}

async function takeLock(machine: Machine, lock: string): Promise<void> {
  let told = false;
  for (;;) {
    const holder = await machine.lock(lock);
    if (holder === 'taken') return;
    if (!told) machine.say(`another process (${holder}) is building the control plane; waiting for it`);
    told = true;
    await machine.sleep(WAIT_MS);
  }
}

async function buildMissing(machine: Machine, plan: GoBuild, module: string, cache: string): Promise<string | undefined> {
  for (const [index, program] of plan.programs.entries()) {
    const target = join(cache, program);
    if (await machine.isExecutable(target)) continue;
    machine.say(
      `building ${program} (${index + 1} of ${plan.programs.length}); the first takes some minutes, later starts find it in ${cache}`,
    );
    const problem = await buildOne(machine, plan, { program, module, target });
    if (problem !== undefined) return problem;
  }
  return undefined;
}

interface One {
  readonly program: Program;
  readonly module: string;
  readonly target: string;
}

async function buildOne(machine: Machine, plan: GoBuild, { program, module, target }: One): Promise<string | undefined> {
  const half = `${target}.half-built`; // the lock is ours: nobody else writes it
  const args = ['build', ...plan.flags, '-o', half, plan.packages[program]];
  const built = await machine.run('go', args, { cwd: module, env: { CGO_ENABLED: '0' } });
  if (built.exitCode !== 0) return `go build of ${plan.packages[program]} failed: ${built.output.trim().split('\n').slice(-5).join('; ')}`;
  await machine.rename(half, target);
  return undefined;
}
