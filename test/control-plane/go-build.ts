import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoBuild } from './build-plan.ts';
import { type Machine, thisMachine } from './machine.ts';

const WAIT_MS = 2000;

/** What a Go module pins: its go.mod and its go.sum. */
export function pinsOf(module: string): readonly [goMod: string, goSum: string] {
  const read = (name: string) => readFileSync(join(module, name), 'utf8');
  return [read('go.mod'), read('go.sum')];
}

/** Where built programs are kept. */
export function cacheFolder({ env, home }: Pick<Machine, 'env' | 'home'>, key: string): string {
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'netsvc-upgrade-control-plane', key);
}

/** Builds on this computer what the cache lacks of a pinned module; the folder of its programs. Throws with the reason. */
export async function builtHere(module: string, plan: (...pins: [goMod: string, goSum: string, platform: string]) => GoBuild) {
  const machine = thisMachine();
  const build = plan(...pinsOf(module), machine.platform);
  const folder = cacheFolder(machine, build.key);
  const problem = await buildPrograms(machine, build, module, folder);
  if (problem !== undefined) throw new Error(`${build.programs.join(', ')} cannot be built: ${problem}`);
  return folder;
}

/** Builds what the cache folder lacks from the pinned Go module; the reason if that cannot be done. */
export async function buildPrograms(machine: Machine, plan: GoBuild, module: string, cache: string): Promise<string | undefined> {
  const present = await Promise.all(plan.programs.map((program) => machine.isExecutable(join(cache, program))));
  if (present.every(Boolean)) return undefined;
  const go = await machine.run('go', ['version']);
  if (go.exitCode !== 0) return `there is no Go compiler on the PATH (go version: ${go.output.trim() || 'not found'})`;
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
    if (!told) machine.say(`another process (${holder}) is building; waiting for it`);
    told = true;
    await machine.sleep(WAIT_MS);
  }
}

async function buildMissing(machine: Machine, plan: GoBuild, module: string, cache: string): Promise<string | undefined> {
  for (const [index, program] of plan.programs.entries()) {
    const target = join(cache, program);
    if (await machine.isExecutable(target)) continue;
    const place = `${index + 1} of ${plan.programs.length}`;
    machine.say(`building ${program} (${place}); the first takes some minutes, later starts find it in ${cache}`);
    const half = `${target}.half-built`; // the lock is ours: nobody else writes it
    const args = ['build', ...plan.flags, '-o', half, plan.packages[program] ?? ''];
    const built = await machine.run('go', args, { cwd: module, env: { CGO_ENABLED: '0' } });
    if (built.exitCode !== 0)
      return `go build of ${plan.packages[program]} failed: ${built.output.trim().split('\n').slice(-5).join('; ')}`;
    await machine.rename(half, target);
  }
  return undefined;
}
