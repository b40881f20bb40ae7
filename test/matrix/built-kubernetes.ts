import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../control-plane/binaries.ts';
import { goPlatform, type Program, type Programs, planKubernetes } from '../control-plane/build-plan.ts';
import { buildPrograms } from '../control-plane/go-build.ts';
import { thisMachine } from '../control-plane/machine.ts';

/** Pinned Go modules, one a minor: `1.34`. */
const MODULES = join(import.meta.dirname, 'kubernetes');
const SERVER = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;

/** Of a minor that has no control plane of its own in the matrix only the client is built. */
const CLIENT_ONLY: Readonly<Record<string, readonly Program[]>> = { '1.35': ['kubectl'] };

export interface Built {
  readonly minor: string;
  readonly kubectl: string;
  /** With the store and the simulated nodes of the test ground; absent where only the client is built. */
  readonly programs?: Programs;
  readonly problem?: string;
}

/** Control planes and clients of other minors, built where the cache lacks them. */
export async function builtKubernetes(usual: Programs): Promise<readonly Built[]> {
  const machine = thisMachine(goPlatform(process.platform, process.arch), homedir());
  const built: Built[] = [];
  for (const minor of readdirSync(MODULES)) {
    const module = join(MODULES, minor);
    const [goMod, goSum] = ['go.mod', 'go.sum'].map((name) => readFileSync(join(module, name), 'utf8'));
    const programs = CLIENT_ONLY[minor] ?? SERVER;
    const plan = planKubernetes(programs, goMod ?? '', goSum ?? '', machine.platform);
    const cache = cacheFolder(machine, plan.key);
    const problem = await buildPrograms(machine, plan, module, cache);
    const own = Object.fromEntries(programs.map((program) => [program, join(cache, program)]));
    built.push({
      minor,
      kubectl: join(cache, 'kubectl'),
      ...(programs === SERVER ? { programs: { ...usual, ...own } } : {}),
      ...(problem === undefined ? {} : { problem }),
    });
  }
  return built;
}
