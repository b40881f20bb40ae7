import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { planGo } from '../control-plane/build-plan.ts';
import { builtHere } from '../control-plane/go-build.ts';

/** Builds the lint of `promtool check metrics` from the pinned Go module beside this file. Throws with the reason if that cannot be done. */
export async function builtLint(): Promise<(metrics: string) => string> {
  const folder = await builtHere(import.meta.dirname, (_goMod, ...rest) => planGo({ promlint: '.' }, '-s -w', ...rest));
  return (input) => {
    const { status, stderr } = spawnSync(join(folder, 'promlint'), { input, encoding: 'utf8' });
    return status === 0 ? '' : `exit ${status}: ${stderr}`;
  };
}
