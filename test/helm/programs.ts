import { join } from 'node:path';
import { pinned, planGo } from '../control-plane/build-plan.ts';
import { builtHere } from '../control-plane/go-build.ts';

export type HelmMajor = 3 | 4;

/** The real chart tool of this major version; built once (a minute or two) from the pinned Go module beside this file. Throws with the reason. */
export async function resolveHelm(major: HelmMajor): Promise<string> {
  const source = `helm.sh/helm/v${major}`;
  const folder = await builtHere(join(import.meta.dirname, `v${major}`), (goMod, ...rest) =>
    planGo({ helm: `${source}/cmd/helm` }, `-s -w -X ${source}/internal/version.version=${pinned(goMod, source)}`, ...rest),
  );
  return join(folder, 'helm');
}
