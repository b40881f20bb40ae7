import { delimiter, join } from 'node:path';
import { type BuildPlan, PROGRAMS, type Programs, planBuild } from './build-plan.ts';
import { downloadPrograms } from './download.ts';
import { buildPrograms, cacheFolder, pinsOf } from './go-build.ts';
import { type Machine, thisMachine } from './machine.ts';

export type { Programs } from './build-plan.ts';

/** The programs, or why not. */
type Answer = { readonly programs: Programs } | { readonly because: string };

/** The oldest API server on which the whole test ground works. */
const OLDEST_MINOR = 30;

/** Finds the programs on this computer, or makes them. The error tells everything that was tried. */
export async function resolvePrograms(): Promise<Programs> {
  const machine = thisMachine();
  return findPrograms(machine, planBuild(...pinsOf(import.meta.dirname), machine.platform), import.meta.dirname);
}

/** Asks each source in turn: an assets folder, the PATH, the cache, a Go build, the published releases. */
export async function findPrograms(machine: Machine, plan: BuildPlan, module: string): Promise<Programs> {
  const tried: string[] = [];
  for (const [source, ask] of sources(machine, plan, module)) {
    const answer = await ask();
    if ('programs' in answer) return answer.programs;
    tried.push(`  ${source}: ${answer.because}`);
  }
  throw new Error(`no control plane programs (${PROGRAMS.join(', ')}). Tried:\n${tried.join('\n')}`);
}

function sources(machine: Machine, plan: BuildPlan, module: string): readonly (readonly [string, () => Promise<Answer>])[] {
  const cache = cacheFolder(machine, plan.key);
  const cached = () => locate(machine, [cache]);
  const thenCached = async (problem: string | undefined): Promise<Answer> => (problem === undefined ? cached() : { because: problem });
  return [
    ['KUBEBUILDER_ASSETS', () => inAssets(machine)],
    ['PATH', () => onPath(machine)],
    [`cache ${cache}`, cached],
    ['Go build', async () => thenCached(await buildPrograms(machine, plan, module, cache))],
    ['download', async () => thenCached(await downloadPrograms(machine, plan, cache))],
  ];
}

async function inAssets(machine: Machine): Promise<Answer> {
  const folder = machine.env.KUBEBUILDER_ASSETS;
  return folder ? fitting(machine, await locate(machine, [folder])) : { because: 'not set' };
}

async function onPath(machine: Machine): Promise<Answer> {
  return fitting(machine, await locate(machine, (machine.env.PATH ?? '').split(delimiter)));
}

/** Each program in the first of the folders that has it. */
async function locate(machine: Machine, folders: readonly string[]): Promise<Answer> {
  const found: Record<string, string> = {};
  for (const program of PROGRAMS)
    for (const file of folders.filter((folder) => folder !== '').map((folder) => join(folder, program)))
      if (!(program in found) && (await machine.isExecutable(file))) found[program] = file;
  const missing = PROGRAMS.filter((program) => !(program in found));
  return missing.length > 0 ? { because: `has no ${missing.join(', ')}` } : { programs: found as Programs };
}

/** Programs that we did not build may be of any age. */
async function fitting(machine: Machine, answer: Answer): Promise<Answer> {
  if ('because' in answer) return answer;
  const { output } = await machine.run(answer.programs['kube-apiserver'], ['--version']);
  const [, major = '0', minor = '0'] = /v(\d+)\.(\d+)\./.exec(output) ?? [];
  if (Number(major) === 1 && Number(minor) >= OLDEST_MINOR) return answer;
  return { because: `its kube-apiserver says "${output.trim()}"; v1.${OLDEST_MINOR} or newer is needed` };
}
