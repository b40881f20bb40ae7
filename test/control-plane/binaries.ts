import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildPlan, goPlatform, PROGRAMS, type Program, type Programs, planBuild } from './build-plan.ts';
import { downloadPrograms } from './download.ts';
import { buildPrograms } from './go-build.ts';
import { type Machine, thisMachine } from './machine.ts';

export type { Programs } from './build-plan.ts';

/** A place that programs may come from: the programs, or why not. */
type Answer = { readonly programs: Programs } | { readonly because: string };
interface Source {
  readonly name: string;
  ask(): Promise<Answer>;
}

/** The oldest API server on which the whole test ground works. */
const OLDEST_MINOR = 30;
const MODULE = fileURLToPath(new URL('.', import.meta.url));

/** Finds the programs on this computer, or makes them. The error tells everything that was tried. */
export async function resolvePrograms(): Promise<Programs> {
  const machine = thisMachine(goPlatform(process.platform, process.arch), homedir());
  return findPrograms(machine, await planHere(machine.platform), MODULE);
}

async function planHere(platform: string): Promise<BuildPlan> {
  const [goMod, goSum] = await Promise.all(['go.mod', 'go.sum'].map((name) => readFile(join(MODULE, name), 'utf8')));
  return planBuild(goMod ?? '', goSum ?? '', platform);
}

/** Asks each source in turn: an assets folder, the PATH, the cache, a Go build, the published releases. */
export async function findPrograms(machine: Machine, plan: BuildPlan, module: string): Promise<Programs> {
  const tried: string[] = [];
  for (const source of sources(machine, plan, module)) {
    const answer = await source.ask();
    if ('programs' in answer) return answer.programs;
    tried.push(`  ${source.name}: ${answer.because}`);
  }
  throw new Error(`no control plane programs (${PROGRAMS.join(', ')}). Tried:\n${tried.join('\n')}`);
}

function sources(machine: Machine, plan: BuildPlan, module: string): readonly Source[] {
  const cache = cacheFolder(machine, plan.key);
  const cached = () => inFolder(machine, cache);
  const thenCached = async (problem: string | undefined): Promise<Answer> => (problem === undefined ? cached() : { because: problem });
  return [
    { name: 'KUBEBUILDER_ASSETS', ask: () => inAssets(machine) },
    { name: 'PATH', ask: () => onPath(machine) },
    { name: `cache ${cache}`, ask: cached },
    { name: 'Go build', ask: async () => thenCached(await buildPrograms(machine, plan, module, cache)) },
    { name: 'download', ask: async () => thenCached(await downloadPrograms(machine, plan, cache)) },
  ];
}

/** Where built programs are kept. */
export function cacheFolder({ env, home }: Pick<Machine, 'env' | 'home'>, key: string): string {
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'netsvc-upgrade-control-plane', key);
}

async function inAssets(machine: Machine): Promise<Answer> {
  const folder = machine.env.KUBEBUILDER_ASSETS;
  return folder ? fitting(machine, await inFolder(machine, folder)) : { because: 'not set' };
}

async function inFolder(machine: Machine, folder: string): Promise<Answer> {
  return locate(async (program) => firstExecutable(machine, [join(folder, program)]));
}

async function onPath(machine: Machine): Promise<Answer> {
  const folders = (machine.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return fitting(
    machine,
    await locate((program) =>
      firstExecutable(
        machine,
        folders.map((folder) => join(folder, program)),
      ),
    ),
  );
}

async function locate(find: (program: Program) => Promise<string | undefined>): Promise<Answer> {
  const places = await Promise.all(PROGRAMS.map(async (program) => [program, await find(program)] as const));
  const missing = places.filter(([, place]) => place === undefined).map(([program]) => program);
  if (missing.length > 0) return { because: `has no ${missing.join(', ')}` };
  return { programs: Object.fromEntries(places) as Programs };
}

async function firstExecutable(machine: Machine, files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if (await machine.isExecutable(file)) return file;
  return undefined;
}

/** Programs that we did not build may be of any age. */
async function fitting(machine: Machine, answer: Answer): Promise<Answer> {
  if ('because' in answer) return answer;
  const { output } = await machine.run(answer.programs['kube-apiserver'], ['--version']);
  const [, major = '0', minor = '0'] = /v(\d+)\.(\d+)\./.exec(output) ?? [];
  if (Number(major) === 1 && Number(minor) >= OLDEST_MINOR) return answer;
  return { because: `its kube-apiserver says "${output.trim()}"; v1.${OLDEST_MINOR} or newer is needed` };
}
